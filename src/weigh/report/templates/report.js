"use strict";
// Progressive enhancement: the page can be read without scripts. All content is set as text, never as HTML.
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
    const show = () => {
      const at = facts.rows[Number(slider.value)];
      $("threshold-value").textContent = at.name;
      slider.setAttribute("aria-valuetext", at.name);
      $("threshold-told").textContent = at.told.replace(/(\d) %/g, "$1\u00a0%");
      ["found", "false", "missed", "passed"].forEach((name, nth) => {
        $(`threshold-${name}`).textContent = at.counts[nth];
      });
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
      const rows = cards.length === 1 ? "1 row" : `${cards.length} rows`;
      $("filter-told").textContent = shown === cards.length ? rows : `${shown} of ${rows}`;
    });
  }

  // Only boxes that scroll are keyboard stops.
  const boxes = [...document.querySelectorAll(".box")];
  const stops = () => {
    for (const box of boxes) box.toggleAttribute("tabindex", false);
    for (const box of boxes) if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
  };
  stops();
  window.addEventListener("resize", stops);
  document.addEventListener("toggle", stops, true);
})();
