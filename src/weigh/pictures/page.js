for (const place of document.querySelectorAll(".chart")) {
  const chart = JSON.parse(place.querySelector("script").textContent);
  const canvas = place.appendChild(document.createElement("div"));
  canvas.style.width = "100%";
  if (chart.usermeta?.widest) canvas.style.maxWidth = chart.usermeta.widest + "px";
  // Panels do not shrink by themselves; their names take part of the width.
  for (const panel of chart.vconcat ?? []) panel.width = Math.max(140, Math.min(panel.width, place.clientWidth - 190));
  vegaEmbed(canvas, chart, { mode: "vega-lite", actions: false, renderer: "svg" }).then(() => {
    const slider = place.querySelector("input[type=range]");
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
