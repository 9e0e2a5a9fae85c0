// Pages work without this. With it, the table moves, the build log grows, and files can be dropped.
"use strict";

function followTable() {
  let number = numberOf(document); // of the table that is shown
  let newest = number;
  let isBusy = false;
  const events = new EventSource("/events");
  events.addEventListener("table", async (event) => {
    const told = JSON.parse(event.data);
    newest = told.number;
    if (isBusy) return;
    isBusy = true;
    try {
      for (let asked = number; newest !== asked && newest !== number; ) {
        asked = newest;
        await new Promise((resolve) => setTimeout(resolve, told.spread_ms * Math.random())); // not all readers at once
        const page = await replaceMain();
        if (page) number = numberOf(page);
      }
    } finally {
      isBusy = false; // after a failure, the next event tries again
    }
  });
  addEventListener("pagehide", () => events.close());
}

function numberOf(page) {
  return Number(page.querySelector("meta[name=live]").dataset.number);
}

/** Shows the newest content of this page, and returns it. */
async function replaceMain() {
  const response = await fetch(location.pathname);
  if (!response.ok) return null;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  document.querySelector("main").replaceWith(page.querySelector("main"));
  markOwn();
  return page;
}

/** Marks the row of the reader's team, whose name the team's page has left here, and repeats it where it stays in view. */
function markOwn() {
  const own = document.querySelector("meta[name=team]");
  if (own) localStorage.setItem("team", own.content);
  const name = localStorage.getItem("team");
  if (!document.querySelector("nav a[href='/team']")) return localStorage.removeItem("team");
  const links = [...document.querySelectorAll("td.name > a[href^='bots/']")];
  const cell = links.find((link) => link.textContent === name)?.parentElement;
  if (!cell) return;
  cell.parentElement.classList.add("own");
  const texts = [...cell.parentElement.cells].slice(0, 3).map((each) => each.innerText.trim());
  const line = document.createElement("p");
  line.className = "own own-line";
  line.textContent = `Your team: ${texts.filter(Boolean).join(" · ")}`;
  document.querySelector("main").append(line);
}

/** Keeps a page of finals up to date, unless somebody is about to press a button of it. */
function followFinals() {
  setInterval(() => document.activeElement.matches("main button") || replaceMain(), 5000);
}

function followVersion(box) {
  const [state, log] = [box.querySelector("[data-state]"), box.querySelector("[data-log]")];
  const events = new EventSource(box.dataset.events);
  events.addEventListener("state", (event) => {
    const told = JSON.parse(event.data);
    state.textContent = told.text;
    log.textContent = told.log;
    if (told.status === "accepted" || told.status === "refused") {
      events.close();
      location.reload();
    }
  });
}

function takeDrops(form) {
  const input = form.querySelector("input[type=file]");
  form.addEventListener("dragover", (event) => {
    event.preventDefault();
    form.classList.add("over");
  });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("over");
    input.files = event.dataTransfer.files;
  });
}

markOwn();
if (document.querySelector("meta[name=live][content=practice]")) setTimeout(() => location.reload(), 3000);
if (document.querySelector("meta[name=live][content=table]") && ["/", "/index.html"].includes(location.pathname)) followTable();
if (/^[/]finals([/][^/]+[/]index[.]html)?$/.test(location.pathname)) followFinals();
document.querySelectorAll("[data-events]").forEach(followVersion);
document.querySelectorAll("form.drop").forEach(takeDrops);
