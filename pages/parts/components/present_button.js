// The button of the "present" mode. Streamlit calls the default export whenever the server says whether it is on.

export default function ({ data, parentElement, setTriggerValue }) {
  const button = parentElement.querySelector("button") ?? parentElement.appendChild(document.createElement("button"));
  Object.assign(button, {
    type: "button",
    className: "present-button",
    textContent: data.on ? "✕ Leave" : "Present",
    title: data.on ? "Back to the ordinary page" : "Large type, thick lines and the full screen, for a projector",
    ariaPressed: String(data.on),
    onclick: () => {
      fullScreen(!data.on);
      setTriggerValue("pressed", true);
    },
  });
}

// A browser that refuses, as one inside of another page does, still gets the large type.
function fullScreen(on) {
  const done = on ? document.documentElement.requestFullscreen?.() : document.fullscreenElement && document.exitFullscreen();
  done?.catch?.(() => {});
}
