// The button of the "present" mode. Streamlit calls the default export whenever the server says whether it is on.

export default function ({ data, parentElement, setTriggerValue }) {
  let button = parentElement.querySelector("button");
  if (!button) {
    button = parentElement.appendChild(document.createElement("button"));
    button.className = "present-button";
    button.type = "button";
    button.textContent = "Present";
    button.title = "Large type, thick lines and the full screen, for a projector";
  }
  button.setAttribute("aria-pressed", String(data.on));
  button.onclick = () => {
    fullScreen(!data.on);
    setTriggerValue("pressed", true);
  };
}

// A browser that refuses, as one inside of another page does, still gets the large type.
function fullScreen(on) {
  const done = on ? document.documentElement.requestFullscreen?.() : document.fullscreenElement && document.exitFullscreen();
  done?.catch?.(() => {});
}
