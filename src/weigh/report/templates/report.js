"use strict";
// Everything here adds to a page that can be read without it; all words are set as text, never as markup.
(() => {
  const $ = (id) => document.getElementById(id);
  document.documentElement.classList.add("scripted");

  const tip = $("tip");
  const hide = () => { tip.hidden = true; };
  const place = (x, y) => {
    const edge = 8;
    tip.style.left = `${Math.max(edge, Math.min(x + 14, window.innerWidth - tip.offsetWidth - edge))}px`;
    tip.style.top = `${Math.max(edge, y - tip.offsetHeight - 12)}px`;
  };
  document.addEventListener("pointerover", (event) => {
    const mark = event.target.closest ? event.target.closest("svg [data-told]") : null;
    if (!mark) { hide(); return; }
    tip.textContent = mark.getAttribute("data-told");
    tip.hidden = false;
    place(event.clientX, event.clientY);
  });
  document.addEventListener("pointermove", (event) => { if (!tip.hidden) place(event.clientX, event.clientY); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  document.addEventListener("scroll", hide, { passive: true });

  const slider = $("threshold-slider");
  if (slider) {
    const facts = JSON.parse($("threshold-facts").textContent);
    const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
    const share = (part) => (part === null ? "–" : `${(100 * part).toFixed(1)} %`);
    const show = () => {
      const at = facts.rows[Number(slider.value)];
      $("threshold-value").textContent = at.threshold.toFixed(2);
      slider.setAttribute("aria-valuetext", at.threshold.toFixed(2));
      $("threshold-told").textContent =
        `Precision ${share(at.precision)}, recall ${share(at.recall)}, accuracy ${share(at.accuracy)}.`;
      $("threshold-found").textContent = whole.format(at.found);
      $("threshold-missed").textContent = whole.format(at.missed);
      $("threshold-false").textContent = whole.format(at.false_alarms);
      $("threshold-passed").textContent = whole.format(at.passed);
    };
    slider.addEventListener("input", show);
    show();
  }

  const filter = $("filter");
  if (filter) {
    const cards = [...document.querySelectorAll("#mistake-rows .card")];
    const words = new Map(cards.map((card) => [card, card.textContent.toLowerCase()]));
    filter.addEventListener("input", () => {
      const wanted = filter.value.trim().toLowerCase();
      for (const card of cards) card.hidden = !words.get(card).includes(wanted);
      const shown = cards.filter((card) => !card.hidden).length;
      $("filter-told").textContent = shown === cards.length ? `${shown} rows` : `${shown} of ${cards.length} rows`;
    });
  }

  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const each of closed) each.open = true;
  });
  window.addEventListener("afterprint", () => { for (const each of closed) each.open = false; });
})();
