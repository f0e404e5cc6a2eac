'use strict';

// The board works without this script, which shows the time under the pointer, and books the part of a free time that
// one clicks or drags over.

const board = document.querySelector('.board:not(.five)');
const step = 15, usual = 60; // minutes: what a drag moves by, and what a click asks for
const clock = (minute) => `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;

if (board) {
  const opens = +board.dataset.opens, closes = +board.dataset.closes;
  const line = board.querySelector('.axis .line');
  const pointer = line.appendChild(document.createElement('output'));
  const chosen = document.createElement('i');
  chosen.className = 'chosen';
  const narrow = matchMedia('(max-width: 40rem)'); // where the board is a list
  let drag = null; // {link, at, from, to, moved}
  let dragged = false;

  // minuteAt is the time at a place of the window, whichever way the text runs.
  const minuteAt = (x) => {
    const {left, right, width} = line.getBoundingClientRect();
    const part = (getComputedStyle(board).direction === 'rtl' ? right - x : x - left) / width;
    return opens + Math.min(Math.max(part, 0), 1) * (closes - opens);
  };
  const mark = (element, from, to) => {
    const part = (minute) => `${100 * (minute - opens) / (closes - opens)}%`;
    element.style.insetInlineStart = part(from);
    element.style.inlineSize = part(opens + to - from);
  };
  const choose = (at) => {
    const first = +drag.link.dataset.from, last = +drag.link.dataset.to;
    drag.from = Math.min(Math.max(first, Math.floor(Math.min(drag.at, at) / step) * step), last - step);
    drag.to = Math.min(last, Math.max(Math.ceil(Math.max(drag.at, at) / step) * step, drag.from + step));
    mark(chosen, drag.from, drag.to);
    chosen.textContent = `${clock(drag.from)}–${clock(drag.to)}`;
  };

  board.addEventListener('pointerdown', (event) => {
    const link = event.target.closest('.free a[href]');
    dragged = false;
    if (!link || narrow.matches || event.button !== 0 || event.pointerType === 'touch') return;
    drag = {link, at: minuteAt(event.clientX), moved: false};
    link.closest('.line').append(chosen);
    choose(drag.at);
  });
  board.addEventListener('dragstart', (event) => drag && event.preventDefault());
  addEventListener('pointermove', (event) => {
    const at = minuteAt(event.clientX);
    pointer.textContent = clock(Math.floor(at / 5) * 5);
    mark(pointer, at, at);
    if (!drag) return;
    drag.moved ||= Math.abs(at - drag.at) >= step / 2;
    choose(at);
  });
  const book = ({link, from, to}) => {
    const address = new URL(link.href);
    address.searchParams.set('from', clock(from));
    address.searchParams.set('to', clock(to));
    location.href = address;
  };
  addEventListener('pointerup', () => {
    const ended = drag;
    drag = null;
    chosen.remove();
    dragged = !!ended?.moved;
    if (dragged) book(ended);
  });
  addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    drag = null;
    chosen.remove();
  });
  // A click asks for an hour from where it is; Enter, a finger and a new tab follow the link, which asks for all of it.
  board.addEventListener('click', (event) => {
    const link = event.target.closest('.free a[href]');
    if (!link || narrow.matches || event.detail === 0 || event.pointerType === 'touch' || event.ctrlKey ||
      event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (dragged) return; // it is booked already
    const first = +link.dataset.from, last = +link.dataset.to;
    const from = Math.min(Math.max(first, Math.floor(minuteAt(event.clientX) / step) * step), last - step);
    book({link, from, to: Math.min(last, from + usual)});
  });
}
