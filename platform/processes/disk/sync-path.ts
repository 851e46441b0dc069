import { close, fsync, open } from 'node:fs';
import { promisify } from 'node:util';

// Half of the work of a `FileHandle` for each of them.
const [openFile, syncFile, closeFile] = [promisify(open), promisify(fsync), promisify(close)];

/** The syncs of one path: one that is under way, and the one that begins after it. */
interface Syncs {
  running: Promise<void>;
  next?: Promise<void> | undefined;
}

const syncsByPath = new Map<string, Syncs>();

/**
 * Resolves when a file's content, or the names in a directory, are on the disk: a rename survives a power failure only when its
 * directory is synced. Callers that wait for the same path share the next sync, which begins after all of them have asked.
 */
export function syncPath(path: string): Promise<void> {
  const syncs = syncsByPath.get(path);
  if (!syncs) {
    return begin(path);
  }
  // What a sync that is under way has seen of a change is not known.
  syncs.next ??= syncs.running.then(
    () => begin(path),
    () => begin(path),
  );
  return syncs.next;
}

function begin(path: string): Promise<void> {
  const running = syncNow(path).finally(() => {
    if (syncsByPath.get(path) === syncs && !syncs.next) {
      syncsByPath.delete(path);
    }
  });
  const syncs: Syncs = { running };
  syncsByPath.set(path, syncs);
  return running;
}

async function syncNow(path: string): Promise<void> {
  const file = await openFile(path, 'r');
  try {
    await syncFile(file);
  } finally {
    await closeFile(file);
  }
}
