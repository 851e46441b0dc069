import type { Board } from '../../stores/board-files/types';
import type { CompletionGate } from './completion-gate';

/**
 * The same board, on which no task becomes `done` past the gate: whoever changes it, and however. What a person writes into
 * a task's file passes no gate; it is their board.
 */
export function gatedBoard(board: Board, gate: CompletionGate): Board {
  return {
    create: (input, options) => gate.create(input, () => board.create(input, options)),
    update: (id, change, writer) => gate.change(change, (guarded) => board.update(id, guarded, writer)),
    move: (id, to, change, mover) => gate.change(change, (guarded) => board.move(id, to, guarded, mover)),
    remove: (id, remover) => board.remove(id, remover),
    get: (id) => board.get(id),
    list: (query, location) => board.list(query, location),
    counts: () => board.counts(),
    progress: board.progress,
    exclusive: (name, work) => board.exclusive(name, work),
    diagnostics: () => board.diagnostics(),
    get version() {
      return board.version;
    },
    onChange: (listener) => board.onChange(listener),
    close: () => board.close(),
  };
}
