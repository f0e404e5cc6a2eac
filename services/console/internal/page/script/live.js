'use strict';

// The page shows what others change, for staff, who may follow the changes. Where it is not being used, it loads itself
// again; else it says that it has changed. It follows while it is in sight and was touched lately, so that a
// page that is left open neither holds a connection nor keeps its session from ending.

const every = 15000, atWork = 20000, left = 600000; // milliseconds
const said = document.currentScript.dataset;
const note = document.createElement('p');
note.setAttribute('role', 'status');
document.querySelector('main').prepend(note);
let stream, pending, asked = 0, touched = -atWork;

const shown = (page) => {
  const main = page.querySelector('main').cloneNode(true);
  for (const moving of main.querySelectorAll('.now, [role=status], .found')) moving.remove();
  return main.textContent.replace(/\s+/g, ' ');
};
const look = async () => {
  pending = undefined;
  asked = performance.now();
  try {
    const answer = await fetch(location.href, {cache: 'no-store'});
    if (!answer.ok || answer.redirected) return;
    const text = (await answer.text()).replace(/<style[^]*?<\/style>/g, ''); // the policy refuses another page's
    const page = new DOMParser().parseFromString(text, 'text/html');
    if (shown(page) === shown(document)) return;
  } catch { return; } // the next change may succeed
  if (performance.now() - touched > atWork && document.activeElement === document.body) return location.reload();
  stream?.close();
  if (note.firstChild) return; // a change that came meanwhile
  note.className = 'done';
  const again = Object.assign(document.createElement('a'), {href: location.href, textContent: said.show});
  note.append(said.changed + ' ', again);
};
const soon = () => pending ??= setTimeout(look, Math.max(1000 * Math.random(), asked + every - performance.now()));
const follow = () => {
  if (document.hidden || note.firstChild || stream && stream.readyState !== EventSource.CLOSED) return;
  if (stream) soon(); // for what it missed
  stream = new EventSource('/api/changes/stream');
  stream.onmessage = ({data}) => JSON.parse(data).changes.length && soon();
};
const rest = () => {
  if (document.hidden || performance.now() - touched > left) stream?.close();
};
for (const touch of ['pointermove', 'pointerdown', 'keydown', 'scroll', 'beforeunload']) {
  addEventListener(touch, () => {
    const since = performance.now() - touched;
    touched = performance.now();
    if (since > left) follow();
  }, {passive: true});
}
document.addEventListener('visibilitychange', () => document.hidden ? rest() : follow());
setInterval(rest, left / 10);
follow();
