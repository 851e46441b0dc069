import { chmod, chown, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentUser } from '../user/agent-user';

/** The transport document of one attempt on disk. */
export interface TransportFile {
  path: string;
  remove(): Promise<void>;
}

/** The document as an earlier worker has written it. */
export function transportFile(directory: string, attemptId: string): TransportFile {
  return { path: pathIn(directory, attemptId), remove: () => removeTransport(directory, attemptId) };
}

/** Removes the document, and what a worker that died while it wrote it has left. */
export async function removeTransport(directory: string, attemptId: string): Promise<void> {
  const path = pathIn(directory, attemptId);
  await Promise.all([path, draftOf(path)].map((file) => rm(file, { force: true })));
}

const pathIn = (directory: string, attemptId: string): string => join(directory, `${attemptId}.json`);
const draftOf = (path: string): string => `${path}.draft`;

/**
 * Writes `<attemptId>.json`, readable by its owner only; whoever sees the file sees all of it. An agent of another user owns
 * its file, and its group may pass through the directory.
 */
export async function writeTransport(
  directory: string,
  attemptId: string,
  json: string,
  user?: AgentUser,
): Promise<TransportFile> {
  const file = transportFile(directory, attemptId);
  const { path } = file;
  const draft = draftOf(path);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await rm(draft, { force: true });
  await writeFile(draft, json, { mode: 0o600, flag: 'wx' });
  if (user) {
    await chown(directory, -1, user.gid);
    await chmod(directory, 0o710);
    await chown(draft, user.uid, user.gid);
  }
  await rename(draft, path);
  return file;
}
