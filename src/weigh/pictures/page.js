for (const container of document.querySelectorAll(".chart")) {
  const spec = JSON.parse(container.querySelector("script").textContent);
  const canvas = container.appendChild(document.createElement("div"));
  canvas.style.width = "100%";
  if (spec.usermeta?.widest) canvas.style.maxWidth = spec.usermeta.widest + "px";
  // Vega-Lite cannot make panels responsive; subtract the width of the name axis.
  for (const panel of spec.vconcat ?? []) panel.width = Math.max(140, Math.min(panel.width, container.clientWidth - 190));
  vegaEmbed(canvas, spec, { mode: "vega-lite", actions: false, renderer: "svg" }).then(() => {
    const slider = container.querySelector("input[type=range]");
    if (slider) addPlay(slider);
  });
}

function addPlay(slider) {
  const button = document.createElement("button");
  let timer = null;
  const stop = () => { clearInterval(timer); timer = null; button.textContent = "Play"; };
  const move = (to) => { slider.value = to; slider.dispatchEvent(new Event("input", { bubbles: true })); };
  button.type = "button";
  button.className = "play";
  button.textContent = "Play";
  button.addEventListener("click", () => {
    if (timer !== null) return stop();
    if (slider.value === slider.max) move(slider.min);
    button.textContent = "Pause";
    timer = setInterval(() => slider.value === slider.max ? stop() : move(Number(slider.value) + 1), 900);
  });
  slider.closest(".vega-bind").appendChild(button);
}
