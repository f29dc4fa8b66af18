/* Hand a component over to its module, which this server's own route serves; say so where it cannot be had. */
export default (component) => import(new URL(component.data.module, location.origin))
  .then((module) => module.default(component), (error) => component.setStateValue("failed", String(error)));
