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
  const path = join(directory, `${attemptId}.json`);
  return { path, remove: () => rm(path, { force: true }) };
}

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
  const draft = `${path}.draft`;
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
