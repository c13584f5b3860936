// Start the page: find out which model it is about, and show it, the list of models, or the form for a token.

import { Problem, getJson, hasToken, modelPath, root, setToken } from "./api.js";
import { button, element } from "./dom.js";
import { formatName } from "./format.js";
import { ModelPage } from "./model_page.js";
import { createModelList } from "./models_page.js";
import { startThemeSwitch } from "./theme.js";
import { createTokenForm } from "./token_form.js";

const main = document.getElementById("main");
const home = document.getElementById("home");

/** The name of the model in the address of the page; null at the root. */
function nameInAddress() {
  const path = location.pathname.slice(root.pathname.length);
  return path.startsWith("models/") ? decodeURIComponent(path.slice("models/".length)) : null;
}

async function showModel(name, hasOthers) {
  const page = new ModelPage(await getJson(modelPath(name)));
  document.title = `${formatName(name)} – weigh`;
  main.replaceChildren(page.node);
  if (hasOthers) main.prepend(element("nav", { class: "crumbs", "aria-label": "Models" }, element("a", { href: root }, "All models")));
}

async function show() {
  const { models } = await getJson("v1/models");
  const name = nameInAddress() ?? (models.length === 1 ? models[0].name : null);
  if (name !== null) await showModel(name, models.length > 1);
  else main.replaceChildren(createModelList(models));
}

function showProblem(problem) {
  if (problem.status === 401) {
    const form = createTokenForm(problem, start);
    main.replaceChildren(form.node);
    form.focus();
    return;
  }
  main.replaceChildren(
    element("section", { class: "card" }, element("h1", {}, "This did not work"),
      element("p", { class: "problem", role: "alert" }, problem.message), button("Try again", start, { class: "primary" })),
  );
}

async function start() {
  try {
    await show();
    showTokenButton();
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    showProblem(problem);
  }
}

/** Offer to drop the token, if there is one. */
function showTokenButton() {
  document.getElementById("sign-out")?.remove();
  if (!hasToken()) return;
  const drop = button("Forget the token", () => {
    setToken(null);
    location.reload();
  }, { class: "quiet", id: "sign-out" });
  document.getElementById("theme").before(drop);
}

home.href = root;
startThemeSwitch(document.getElementById("theme"));
window.addEventListener("unauthorised", (event) => showProblem(event.detail));
await start();
