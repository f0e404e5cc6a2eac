'use strict';

// The screen refreshes itself, its clock runs, and it shows how old it is once it could not be refreshed for a while.
// Without this script it stays as it was loaded: a page that loads itself again would end where the network does.

const every = 30000, longest = 20000, old = 300000; // milliseconds
const current = () => document.querySelector('.screen');
let came = performance.now();

const tick = () => {
  const screen = current();
  const now = new Date(+screen.dataset.at + performance.now() - came); // the server's clock, not this machine's
  const text = now.toLocaleTimeString(document.documentElement.lang,
    {hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: screen.dataset.zone});
  const clock = screen.querySelector('.clock time');
  if (clock.textContent !== text) clock.textContent = text;
  screen.querySelector('.old').hidden = performance.now() - came < old;
};

const refresh = async () => {
  try {
    const answer = await fetch(location.href, {cache: 'no-store', signal: AbortSignal.timeout(longest)});
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const next = answer.ok && page.querySelector('.screen');
    if (next) {
      const source = (from) => from.querySelector('script[src]').getAttribute('src');
      if (source(page) !== source(document)) location.reload(); // another release
      came = performance.now();
      current().replaceWith(document.adoptNode(next));
      tick();
    }
  } catch { /* the next try may succeed */ }
  setTimeout(refresh, every * (0.9 + 0.2 * Math.random()));
};

// An address may end with #token=…, which browsers send to no server: it is kept, and leaves the address.
const given = new URLSearchParams(location.hash.slice(1)).get('token');
if (given) {
  const form = document.createElement('form');
  const asked = new URLSearchParams(location.search);
  for (const [name, value] of [['rooms', asked.get('rooms')], ['name', asked.get('name')], ['token', given]]) {
    form.append(Object.assign(document.createElement('input'), {type: 'hidden', name, value: value ?? ''}));
  }
  Object.assign(form, {method: 'post', action: '/screen'});
  document.body.append(form);
  history.replaceState(null, '', location.pathname + location.search);
  form.submit();
} else if (current()) {
  setInterval(tick, 1000);
  setTimeout(refresh, every);
  tick();
}
