'use strict';

// The page is complete without this script, which adds a search and calls with the visitor's session.

const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const make = (name, properties, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

// The search shows the operations and records that have each word in their titles, texts or fields. Errors and
// examples don't count, as nearly all of them are alike.
const search = document.getElementById('search');
const entries = new Map(all('nav a').map((link) => [link.hash.slice(1), link.parentElement]));
const parts = (article) => [...article.children].flatMap((e) => e.className === 'body' ? [...e.children] : [e])
  .filter(({localName}) => localName !== 'details');
let texts; // of the articles, made when they are first searched
const show = (element, shown) => {
  element.hidden = !shown;
  const entry = entries.get(element.id);
  if (entry) entry.hidden = !shown;
};
const find = () => {
  texts ??= new Map(all('article').map((article) =>
    [article, [article.id, ...parts(article).map((e) => e.textContent)].join(' ').toLowerCase()]));
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = new Set(); // sections
  let found = 0;
  for (const [article, text] of texts) {
    const matches = words.every((word) => text.includes(word));
    show(article, matches);
    if (matches) {
      found++;
      matching.add(article.parentElement);
    }
  }
  for (const section of all('main > section')) show(section, !words.length || matching.has(section));
  document.getElementById('found').textContent = words.length ? `${found} found` : '';
};
search.addEventListener('input', find);
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && !event.target.closest('input, textarea')) {
    event.preventDefault();
    search.focus();
  }
});
search.parentElement.hidden = false;

// A link to something that the search hides ends the search.
const reveal = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (!target?.closest('[hidden]')) return;
  search.value = '';
  find();
  target.scrollIntoView();
};
addEventListener('hashchange', reveal);

// The examples name this Belfry.
for (const code of all('#examples code')) {
  code.textContent = code.textContent.replace('https://belfry.school.example', location.origin);
}

// The longest answer that is shown, in characters.
const longest = 200000;

// visitor returns a line that says whose session is used.
const visitor = async () => {
  const answer = await fetch('/api/me', {cache: 'no-store'});
  if (answer.ok) return [`Sent as ${(await answer.json()).user.name}.`];
  return ['You are not logged in: ', make('a', {href: '#logInByBody', textContent: 'log in'}), '.'];
};

// request makes the address and the options of a call from the values of a form.
const request = (method, path, values, body, media) => {
  const query = new URLSearchParams(), headers = {};
  for (const {name, place, value} of values) {
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== '' && place === 'query') query.append(name, value);
    else if (value !== '') headers[name] = value;
  }
  if (body) headers['Content-Type'] = media;
  // Under the page's own policy, no-referrer, a browser may send Origin: null, which Belfry refuses.
  return [path + (query.size ? `?${query}` : ''),
    {method, headers, body: body || undefined, cache: 'no-store', referrerPolicy: 'same-origin'}];
};

// receive shows an answer as it comes: the stream of changes has no end.
const receive = async (answer, output) => {
  let text = '';
  const decoder = new TextDecoder();
  for (const reader = answer.body.getReader(); text.length < longest;) {
    const {done, value} = await reader.read();
    if (done) break;
    text += decoder.decode(value, {stream: true});
    output.textContent = text;
  }
  if (text.length >= longest) text = text.slice(0, longest) + '\n… (cut)';
  else if (answer.headers.get('Content-Type')?.startsWith('application/json')) {
    text = JSON.stringify(JSON.parse(text), null, 2);
  }
  output.textContent = text;
};

// form returns the form that sends an operation's call.
const form = (article) => {
  const method = article.querySelector('.call .method').textContent;
  const path = article.querySelector('.call code').textContent;
  const inputs = all('.parameters tr', article).map((row) => ({
    name: row.querySelector('code').textContent,
    place: row.querySelector('.place').textContent,
    input: make('input', {required: !!row.querySelector('.mark'), placeholder: row.dataset.example ?? ''}),
  }));
  const media = article.querySelector('.body .media')?.textContent;
  let example = article.querySelector('.body .example code')?.textContent ?? '';
  if (example && media === 'application/x-ndjson') example = JSON.stringify(JSON.parse(example)); // on one line
  const body = media && make('textarea', {rows: 8, spellcheck: false, value: example});
  const who = make('p', {className: 'about'});
  const status = make('p', {className: 'code', role: 'status'});
  const output = make('code'), answer = make('pre', {tabIndex: 0}, output); // it scrolls
  const send = make('button', {textContent: `Send ${method}`});
  const stop = make('button', {type: 'button', textContent: 'Stop', hidden: true});
  answer.hidden = true;
  const it = make('form', {}, // who is known late: it stands where it moves no button
    ...inputs.map(({name, place, input}) => make('label', {}, `${name} (${place})`, input)),
    ...(body ? [make('label', {}, 'body', body)] : []), send, stop, who, status, answer);
  const identify = () => visitor().then((words) => who.replaceChildren(...words), () => who.replaceChildren());
  let controller;
  stop.addEventListener('click', () => controller.abort());
  it.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (method !== 'GET' && !confirm(`${method} ${path} changes what is stored. Send it?`)) return;
    const [address, options] = request(method, path,
      inputs.map(({name, place, input}) => ({name, place, value: input.value})),
      body?.value, media);
    controller = new AbortController();
    send.disabled = true;
    stop.hidden = answer.hidden = false;
    output.textContent = status.textContent = '';
    try {
      const got = await fetch(address, {...options, signal: controller.signal});
      const marks = ['ETag', 'Location', 'Warning', 'Retry-After', 'X-Request-Id']
        .filter((name) => got.headers.has(name)).map((name) => `${name}: ${got.headers.get(name)}`);
      status.textContent = [`${got.status} ${got.statusText}`, ...marks].join(' · ');
      await receive(got, output);
    } catch (error) {
      status.textContent += controller.signal.aborted ? ' Stopped.' : ` ${error.message}`;
    }
    send.disabled = false;
    stop.hidden = true;
    await identify();
  });
  identify();
  return it;
};

for (const article of all('article:not(.record)')) {
  const open = make('button', {type: 'button', textContent: 'Try it'});
  open.addEventListener('click', () => {
    const it = form(article);
    open.replaceWith(it);
    (it.querySelector('input, textarea') ?? it.querySelector('button')).focus();
  });
  article.append(open);
}
