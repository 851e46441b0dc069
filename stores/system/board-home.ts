import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { persistentId } from '../../platform/processes/persistent-id';
import type { Database } from '../port/collection';
import { StaleRevisionError } from '../port/errors';
import { openSettingsDocument } from '../port/settings-document';

/** The stores belong to a board whose files are in another data directory. */
export class BoardElsewhereError extends Error {
  override readonly name = 'BoardElsewhereError';

  constructor(dataDir: string, file: string, boardId: string) {
    super(
      `The task files of this board are not in ${dataDir}. Set BOARD_DATA_DIR to the directory whose file board-id contains ` +
        `${boardId}; if this is that directory, write the id back to ${file}.`,
    );
  }
}

export interface BoardHome {
  /**
   * Makes this data directory the board's, unless it is or another one is: the server of the tasks records their location.
   *
   * @throws BoardElsewhereError
   */
  claim(): Promise<void>;
  /**
   * Whether the task files are in this data directory; waits until that is recorded.
   *
   * @throws the signal's reason
   */
  isHere(signal?: AbortSignal): Promise<boolean>;
}

/** How often it is looked whether the board has a home by now, in milliseconds. */
const everyMs = 250;

/**
 * Which data directory holds the task files. The location of stores that several hosts share does not show it, so the id stored
 * in the directory is compared with the one in the stores.
 *
 * @param options.shared whether other data directories can have the same stores; an embedded store is where its board is
 */
export async function openBoardHome(
  db: Database,
  { dataDir, shared, onWait }: { dataDir: string; shared: boolean; onWait?: () => void },
): Promise<BoardHome> {
  const home = await openSettingsDocument<{ boardId: string }>(db, 'board-home');
  const file = join(resolve(dataDir), 'board-id');
  const ownId = () => persistentId(file, randomUUID);

  async function claimed(boardId: string): Promise<string> {
    try {
      return (await home.replace({ boardId }, 0)).value.boardId;
    } catch (error) {
      if (!(error instanceof StaleRevisionError)) {
        throw error;
      }
      return (await home.read()).value?.boardId ?? boardId;
    }
  }

  return {
    async claim() {
      if (!shared) {
        return;
      }
      const own = await ownId();
      const boardId = await claimed(own);
      if (boardId !== own) {
        throw new BoardElsewhereError(resolve(dataDir), file, boardId);
      }
    },

    async isHere(signal) {
      if (!shared) {
        return true;
      }
      const own = await ownId();
      for (let waits = 0; ; waits += 1) {
        const { value } = await home.read();
        if (value) {
          return value.boardId === own;
        }
        if (waits === 0) {
          onWait?.();
        }
        await delay(everyMs, undefined, signal ? { signal } : {});
      }
    },
  };
}
