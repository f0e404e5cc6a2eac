'use strict';

// An event of a week is dragged to another time: its form opens with that time, and its button saves it. Without this
// script, and on a phone, the form is filled in by hand.

const week = document.querySelector('.week');
const step = 15; // minutes: what a drag moves by
const clock = (minute) => `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;

const query = new URLSearchParams(location.search);
for (const name of ['date', 'from', 'to']) {
  const field = document.querySelector(`form[action$="/edit"] [name=${name}]`);
  if (field && query.has(name)) field.value = query.get(name);
}

if (week) {
  const hours = week.querySelectorAll('.hours .timed span');
  const opens = 60 * parseInt(hours[0].textContent), closes = opens + 60 * hours.length;
  const chosen = document.createElement('i');
  chosen.className = 'chosen';
  let drag = null; // {link, length, grip, y, day, from}: grip is how far below the start, in minutes, it was taken
  let dragged = false;

  const minuteAt = (timed, y) => {
    const {top, height} = timed.getBoundingClientRect();
    return opens + (y - top) / height * (closes - opens);
  };
  week.addEventListener('pointerdown', (event) => {
    dragged = false;
    const link = event.target.closest('.block .item');
    const [, ...at] = link?.querySelector('.time').textContent.match(/^(\d\d):(\d\d)–(\d\d):(\d\d)$/) ?? [];
    const from = 60 * at[0] + +at[1], to = 60 * at[2] + +at[3];
    if (!(to > from) || event.button !== 0 || event.pointerType === 'touch') return; // over midnight the form is better
    drag = {link, length: to - from, grip: minuteAt(link.closest('.timed'), event.clientY) - from, y: event.clientY};
  });
  week.addEventListener('dragstart', (event) => drag && event.preventDefault());
  addEventListener('pointermove', ({clientX, clientY}) => {
    if (!drag) return;
    const day = document.elementFromPoint(clientX, clientY)?.closest('.day');
    dragged ||= Math.abs(clientY - drag.y) > 8 || day !== drag.link.closest('.day');
    if (!dragged || !day) return;
    const timed = day.querySelector('.timed');
    const at = Math.round((minuteAt(timed, clientY) - drag.grip) / step) * step;
    drag.from = Math.min(Math.max(at, opens), closes - drag.length);
    drag.day = day;
    chosen.style.gridRow = `${(drag.from - opens) / 5 + 1} / span ${Math.ceil(drag.length / 5)}`;
    chosen.textContent = `${clock(drag.from)}–${clock(drag.from + drag.length)}`;
    timed.append(chosen);
  });
  const end = () => {
    const ended = drag;
    drag = null;
    chosen.remove();
    return ended;
  };
  addEventListener('pointerup', () => {
    const {link, length, day, from} = end() ?? {};
    if (!dragged || !day) return;
    const date = new URL(day.querySelector('h2 a').href).searchParams.get('date');
    location.href = `${link.href}/edit?` + new URLSearchParams({date, from: clock(from), to: clock(from + length)});
  });
  addEventListener('keydown', ({key}) => key === 'Escape' && end());
  week.addEventListener('click', (event) => dragged && event.preventDefault());
}
