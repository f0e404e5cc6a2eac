// The page at /api/docs of a running Belfry, in the DOM of jsdom: its search, and its form. The environment has BELFRY
// (the address) and TEACHER (a uuid).
import assert from "node:assert/strict";
import { test } from "node:test";
import { JSDOM } from "jsdom";

const belfry = process.env.BELFRY;

// open loads the page as a visitor who confirms what the page asks, or does not. calls lists what it sent.
async function open(confirms = true) {
  const calls = [];
  let cookie = "";
  const { window } = await JSDOM.fromURL(`${belfry}/api/docs`, {
    runScripts: "dangerously",
    beforeParse(window) {
      Object.assign(window, {
        AbortController, TextDecoder, confirm: () => confirms,
        fetch: async (path, options = {}) => {
          calls.push(`${options.method ?? "GET"} ${path}`);
          const answer = await fetch(new URL(path, belfry), { ...options, headers: { ...options.headers, cookie } });
          for (const set of answer.headers.getSetCookie()) cookie = set.split(";", 1)[0];
          return answer;
        },
      });
      window.Element.prototype.scrollIntoView = () => {};
    },
  });
  const { document } = window;
  const search = document.getElementById("search");
  return {
    window, document, calls,
    find(words) {
      search.value = words;
      search.dispatchEvent(new window.Event("input"));
    },
    visible: () => [...document.querySelectorAll("article:not([hidden])")].map(({ id }) => id),
    // form opens the form of an operation and returns it, with the values filled in by the names of their labels.
    form(operation, values = {}) {
      const article = document.getElementById(operation);
      [...article.querySelectorAll("button")].find(({ textContent }) => textContent === "Try it").click();
      const form = article.querySelector("form");
      for (const label of form.querySelectorAll("label")) {
        const name = label.firstChild.textContent;
        if (name in values) label.querySelector("input, textarea").value = values[name];
      }
      return form;
    },
  };
}

// send presses a form's button and returns what is shown when until holds.
async function send(form, until = ({ status, busy }) => status !== "" && !busy) {
  form.querySelector("button").click();
  for (let tries = 0; tries < 200; tries++) {
    const shown = {
      status: form.querySelector("[role=status]").textContent, text: form.querySelector("pre").textContent,
      who: form.querySelector(".about").textContent, busy: form.querySelector("button").disabled,
    };
    if (until(shown)) return shown;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing came: ${form.textContent}`);
}

const logIn = (page) => send(page.form("logInByBody", { body: JSON.stringify({ uuid: process.env.TEACHER }) }));

test("the search shows what has every word, and a link to anything else ends it", async () => {
  const page = await open();
  const all = page.visible();
  page.find("REVOKE feed");
  assert.ok(page.visible().includes("revokeFeed"));
  assert.ok(page.visible().length < 10, `${page.visible()}`);
  assert.ok(page.document.querySelector('nav a[href="#findElements"]').parentElement.hidden);
  page.find("no such words anywhere");
  assert.deepEqual(page.visible(), []);
  page.window.location.hash = "#getMe";
  await new Promise((resolve) => page.window.addEventListener("hashchange", () => setTimeout(resolve)));
  assert.deepEqual(page.visible(), all);
});

test("the examples name the Belfry that serves the page", async () => {
  const { document } = await open();
  assert.ok(document.getElementById("examples").textContent.includes(`BELFRY=${new URL(belfry).origin}`));
});

test("a call is sent with the session of the visitor", async () => {
  const page = await open();
  const before = await send(page.form("getMe"), ({ status, who }) => status !== "" && who !== "");
  assert.match(before.status, /^401 /);
  assert.match(before.who, /not logged in/);
  assert.match((await logIn(page)).status, /^200 /);
  const found = await send(page.form("findElements", { "name (query)": "Great Hall" }), ({ who, text }) =>
    who.startsWith("Sent as ") && text.includes("}"));
  assert.match(found.status, /^200 .*X-Request-Id: /);
  const [hall] = JSON.parse(found.text).elements;
  assert.equal(hall.name, "Great Hall");
  const shown = await send(page.form("getElement", { "id (path)": hall.id }));
  assert.equal(JSON.parse(shown.text).element.id, hall.id);
  assert.ok(page.calls.includes("GET /api/elements?name=Great+Hall"), `${page.calls}`);
});

test("a call that changes something is sent only when the visitor confirms it", async () => {
  const page = await open(false);
  page.form("logInByBody").querySelector("button").click();
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.ok(!page.calls.includes("POST /api/login"), `${page.calls}`);
});

test("a stream is shown as it comes, until it is stopped", async () => {
  const page = await open();
  await logIn(page);
  const form = page.form("streamChanges");
  await send(form, ({ text }) => text.includes("data:"));
  [...form.querySelectorAll("button")].find(({ textContent }) => textContent === "Stop").click();
  const stopped = ({ status, busy }) => !busy && status.endsWith("Stopped.");
  for (let tries = 0; tries < 100 && !stopped({
    status: form.querySelector("[role=status]").textContent, busy: form.querySelector("button").disabled,
  }); tries++) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.ok(form.querySelector("[role=status]").textContent.endsWith("Stopped."), form.textContent);
});
