import type { Board } from '../types';

/** What changes tasks: what a wrapper of a board may put something before or after. */
export type BoardWrites = Pick<Board, 'create' | 'update' | 'move' | 'remove' | 'purge'>;

/** The same board with other ways to change its tasks; all reads are the board's own. */
export function wrappedBoard(board: Board, writes: Partial<BoardWrites>): Board {
  return {
    create: (input, options) => board.create(input, options),
    update: (id, change, writer) => board.update(id, change, writer),
    move: (id, change, mover) => board.move(id, change, mover),
    remove: (id, remover) => board.remove(id, remover),
    purge: (id, release) => board.purge(id, release),
    ...writes,
    get: (id) => board.get(id),
    list: (query, location) => board.list(query, location),
    counts: () => board.counts(),
    inArchive: () => board.inArchive(),
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
