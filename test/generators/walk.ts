// The README's walk with a client whose types openapi-typescript has made of Belfry's own document. The environment has
// BELFRY (the address), TEACHER and SCRIPT (their uuids).
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Schemas = components["schemas"];

// login returns the client of a logged-in user, which keeps the session's cookie.
async function login(user: string) {
  let cookie = "";
  const client = createClient<paths>({
    baseUrl: needed("BELFRY"),
    fetch: async (request) => {
      if (cookie !== "") request.headers.set("Cookie", cookie);
      const answer = await fetch(request);
      for (const set of answer.headers.getSetCookie()) cookie = set.split(";", 1)[0] ?? "";
      return answer;
    },
  });
  got(await client.POST("/api/login", { body: { uuid: needed(user) } }));
  return client;
}

type Client = Awaited<ReturnType<typeof login>>;

function needed(variable: string): string {
  const value = process.env[variable];
  if (value === undefined) throw new Error(`${variable} is missing`);
  return value;
}

// got returns the body of a success. Any other answer ends the program.
function got<Answer>(result: { data?: Answer; error?: unknown; response: Response }): Answer {
  if (result.data === undefined) {
    throw new Error(`${result.response.url}: ${result.response.status} ${JSON.stringify(result.error)}`);
  }
  return result.data;
}

function first<Item>(items: Item[]): Item {
  const [item] = items;
  if (item === undefined) throw new Error("the list is empty");
  return item;
}

async function element(client: Client, name: string): Promise<Schemas["Id"]> {
  return first(got(await client.GET("/api/elements", { params: { query: { name } } })).elements).id;
}

// create makes an event of the category Trip.
async function create(client: Client, body: string, starts: string, ends: string, names: string[],
  repeat?: Schemas["Repeat"]) {
  const { eventcategories } = got(await client.GET("/api/eventcategories"));
  const elements = await Promise.all(names.map((name) => element(client, name)));
  return got(await client.POST("/api/events", {
    body: {
      event: {
        body, event_category_id: first(eventcategories.filter(({ name }) => name === "Trip")).id,
        starts_at_text: starts, ends_at_text: ends,
      },
      elements, repeat,
    },
  }));
}

async function book(client: Client): Promise<Schemas["Id"]> {
  const made = await create(client, "Bletchley Park", "2026-11-28 09:30", "2026-11-28 16:00",
    ["HGO - Hannah Gordon", "7 Mathematics 1", "Great Hall", "Minibuses", "Minibuses", "Public Calendar"]);
  if (!("event" in made)) throw new Error("a series was made");
  const { event, failures } = made;
  if (event.id === null) throw new Error("nothing was written");
  console.log("booked", event.body, new Date(event.starts_at).toISOString().replace(".000", ""), failures.length);
  for (const commitment of event.commitments) console.log(commitment.status, commitment.element.name);
  for (const request of event.requests) console.log(request.quantity, request.num_allocated, request.element.name);
  return event.id;
}

async function look(client: Client, event: Schemas["Id"]) {
  const id = await element(client, "HGO - Hannah Gordon");
  const { commitments } = got(await client.GET("/api/elements/{id}/commitments", {
    params: { path: { id }, query: { start_date: "2026-11-28" } },
  }));
  for (const commitment of commitments) console.log("day", commitment.event.body);
  const { events } = got(await client.GET("/api/events", {
    params: { query: { text: "bletchley", element: await element(client, "7 Mathematics 1") } },
  }));
  for (const found of events) console.log("found", found.body, found.id === event);
  const free = got(await client.GET("/api/free", {
    params: { query: { type: "Location", starts_at: "2026-11-28T10:00", ends_at: "2026-11-28T11:00" } },
  }));
  const elements = "elements" in free ? free.elements : [];
  for (const { name } of elements) if (["Great Hall", "Sports Hall"].includes(name)) console.log("free", name);
  const { note } = got(await client.POST("/api/events/{id}/notes", {
    params: { path: { id: event } }, body: { note: { contents: "Bring a *packed lunch*." } },
  }));
  console.log("note", note.formatted_contents.trim());
}

async function series(client: Client) {
  const made = await create(client, "Choir", "2027-01-12 16:00", "2027-01-12 17:00", ["Great Hall"],
    { rule: "FREQ=WEEKLY;BYDAY=TU;COUNT=3" });
  if (!("series" in made) || made.series.id === null) throw new Error("no series was made");
  console.log("series of", made.series.events.length);
  const shown = got(await client.GET("/api/series/{id}", { params: { path: { id: made.series.id } } }));
  got(await client.DELETE("/api/events/{id}", {
    params: { path: { id: first(shown.series.events).event.id }, query: { scope: "all" } },
  }));
}

async function switchUser(client: Client) {
  const { users } = got(await client.GET("/api/users", {
    params: { query: { email: "hannah.gordon@school.example" } },
  }));
  const user = first(users).id;
  const params = { path: { session: 1 } };
  got(await client.PUT("/api/sessions/{session}", { params, body: { session: { user_id: user } } }));
  console.log("switched", got(await client.GET("/sessions/{session}/whoami", { params })).user_id === user);
  got(await client.PUT("/api/sessions/{session}/revert", { params, body: {} }));
}

// changes asks again while Belfry has not brought all into the list yet, which it answers with 503.
async function changes(client: Client, since?: string) {
  for (;;) {
    const result = await client.GET("/api/changes", { params: { query: { after: since } } });
    if (result.response.status !== 503) return got(result);
    const seconds = Number(result.response.headers.get("Retry-After"));
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

async function remove(client: Client, event: Schemas["Id"]) {
  const { next } = await changes(client);
  got(await client.DELETE("/api/events/{id}", { params: { path: { id: event } } }));
  const gone = await client.GET("/api/events/{id}", { params: { path: { id: event } } });
  console.log("deleted", gone.response.status === 404);
  for (const change of (await changes(client, next)).changes) {
    if (change.id === event && change.kind === "Event") console.log("change", change.change);
  }
}

const teacher = await login("TEACHER");
const event = await book(teacher);
await look(teacher, event);
await series(teacher);
await switchUser(await login("SCRIPT"));
await remove(teacher, event);
