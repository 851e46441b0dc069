import { useState } from 'react';
import type { Task, TaskStatus } from '../../api/client';
import { startRun } from '../../runs/start-store';
import { useKeys } from '../../ui/keys';
import { statuses, statusLabel } from '../status';
import type { ColumnHandle } from './column';
import type { Columns } from './columns';
import { drag, type Target } from './drag';
import { newTask } from './new-task-store';

interface BoardKeys {
  columns: Columns;
  handles: ReadonlyMap<TaskStatus, ColumnHandle>;
  mayWrite: boolean;
  onDrop: (taskId: string, target: Target) => void;
}

const cardOf = (taskId: string): HTMLElement | null => document.querySelector(`[data-card="${CSS.escape(taskId)}"]`);

/** Focuses a card once it is drawn: one that is out of sight is scrolled to first. */
function focusCard(taskId: string, framesLeft = 10): void {
  const card = cardOf(taskId);
  if (card) {
    card.focus({ preventScroll: false });
  } else if (framesLeft > 0) {
    requestAnimationFrame(() => focusCard(taskId, framesLeft - 1));
  }
}

/** Gives the focus back to a card that was drawn again, unless it has gone elsewhere meanwhile. */
function focusAgain(taskId: string): void {
  requestAnimationFrame(() => {
    const { activeElement } = document;
    if (activeElement === null || activeElement === document.body) {
      focusCard(taskId);
    }
  });
}

interface Place {
  task: Task;
  status: TaskStatus;
  index: number;
}

function focused(columns: Columns): Place | undefined {
  const taskId = (document.activeElement as HTMLElement | null)?.dataset.card;
  for (const status of statuses) {
    const index = columns[status].findIndex(({ id }) => id === taskId);
    const task = columns[status][index];
    if (task) {
      return { task, status, index };
    }
  }
  return undefined;
}

const clamp = (value: number, max: number): number => Math.min(Math.max(value, 0), max);

/**
 * The keys of the board: moving the focus, and lifting, moving and dropping the card that has it.
 *
 * @returns what is announced to those who listen
 */
export function useBoardKeys({ columns, handles, mayWrite, onDrop }: BoardKeys): string {
  const [announcement, announce] = useState('');

  const focusAt = (status: TaskStatus, index: number) => {
    const task = columns[status][clamp(index, columns[status].length - 1)];
    if (task) {
      handles.get(status)?.show(clamp(index, columns[status].length - 1));
      focusCard(task.id);
    }
  };
  const step = (by: number) => {
    const place = focused(columns);
    const first = statuses.find((status) => columns[status].length > 0);
    if (place) {
      focusAt(place.status, place.index + by);
    } else if (first) {
      focusAt(first, 0);
    }
  };
  const cross = (by: -1 | 1) => {
    const place = focused(columns);
    if (!place) {
      step(0);
      return;
    }
    const rest = statuses.filter((status) => columns[status].length > 0);
    const next = rest[rest.indexOf(place.status) + by];
    if (next) {
      focusAt(next, place.index);
    }
  };

  const name = ({ status, index }: Target) => `${statusLabel[status]}, position ${index + 1}`;
  const lift = () => {
    const place = focused(columns);
    if (!place || !mayWrite) {
      return;
    }
    const target = { status: place.status, index: place.index };
    drag.set({ taskId: place.task.id, by: 'keyboard', target });
    announce(`Lifted ${place.task.title}. ${name(target)}.`);
  };
  const move = (columnStep: number, rowStep: number) => {
    const present = drag.get();
    if (!present) {
      return;
    }
    const column = clamp(statuses.indexOf(present.target.status) + columnStep, statuses.length - 1);
    const status = statuses[column] ?? present.target.status;
    const others = columns[status].filter(({ id }) => id !== present.taskId).length;
    const target = { status, index: clamp(present.target.index + rowStep, others) };
    drag.set({ ...present, target });
    handles.get(status)?.show(clamp(target.index, columns[status].length - 1));
    announce(name(target));
  };
  const drop = () => {
    const present = drag.get();
    if (!present) {
      return;
    }
    drag.set(undefined);
    onDrop(present.taskId, present.target);
    announce(`Dropped. ${name(present.target)}.`);
    focusAgain(present.taskId);
  };
  const cancel = () => {
    drag.set(undefined);
    announce('Put back.');
  };

  const isLifted = () => drag.get()?.by === 'keyboard';
  const either = (lifted: () => void, otherwise?: () => void) => () => (isLifted() ? lifted() : otherwise?.());
  useKeys({
    j: either(
      () => move(0, 1),
      () => step(1),
    ),
    k: either(
      () => move(0, -1),
      () => step(-1),
    ),
    h: either(
      () => move(-1, 0),
      () => cross(-1),
    ),
    l: either(
      () => move(1, 0),
      () => cross(1),
    ),
    ArrowDown: either(
      () => move(0, 1),
      () => step(1),
    ),
    ArrowUp: either(
      () => move(0, -1),
      () => step(-1),
    ),
    ArrowLeft: either(
      () => move(-1, 0),
      () => cross(-1),
    ),
    ArrowRight: either(
      () => move(1, 0),
      () => cross(1),
    ),
    ' ': either(drop, lift),
    Escape: either(cancel),
    Enter: either(drop, () => (document.activeElement as HTMLElement | null)?.click()),
    '/': () => document.getElementById('board-search')?.focus(),
    c: mayWrite ? () => newTask.set({ status: focused(columns)?.status ?? 'todo' }) : undefined,
    s: () => {
      const place = focused(columns);
      if (place) {
        startRun.set(place.task);
      }
    },
  });
  return announcement;
}
