import { rmSync } from 'node:fs';
import { chmod, chown, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { egressDirectory } from '../../sandbox/run-sandbox';
import type { AgentUser } from '../user/agent-user';

/** The transport document of one attempt on disk, and beside it the credentials of the attempt, if it has any. */
export interface TransportFile {
  path: string;
  /** Absolute; there only where a handle was written. */
  handlePath: string;
  /** Absolute; there only where a tool bridge was written. It is replaced when another worker adopts the agent. */
  toolBridgePath: string;
  /** What it is in: a sandbox that shows a file shows the one of its start, and a directory the files of now. */
  toolBridgeDirectory: string;
  remove(): void;
}

/** The files as an earlier worker has written them. */
export function transportFile(directory: string, attemptId: string): TransportFile {
  return {
    path: pathIn(directory, attemptId),
    handlePath: handleIn(directory, attemptId),
    toolBridgePath: toolBridgeIn(directory, attemptId),
    toolBridgeDirectory: toolsIn(directory, attemptId),
    remove: () => removeTransport(directory, attemptId),
  };
}

/** Removes the document and the handle, and what a worker that died while it wrote it has left. */
export function removeTransport(directory: string, attemptId: string): void {
  const files = [pathIn, handleIn, formerToolBridgeIn].map((file) => file(directory, attemptId));
  for (const file of files.flatMap((each) => [each, draftOf(each)])) {
    rmSync(file, { force: true });
  }
  for (const folder of [toolsIn(directory, attemptId), egressDirectory(directory, attemptId)]) {
    rmSync(folder, { recursive: true, force: true });
  }
}

const pathIn = (directory: string, attemptId: string): string => join(directory, `${attemptId}.json`);
const handleIn = (directory: string, attemptId: string): string => join(directory, `${attemptId}.handle.json`);
const toolsIn = (directory: string, attemptId: string): string => join(directory, `${attemptId}.tools`);
const toolBridgeIn = (directory: string, attemptId: string): string =>
  join(toolsIn(directory, attemptId), 'bridge.json');
/** As versions before wrote it. */
const formerToolBridgeIn = (directory: string, attemptId: string): string => join(directory, `${attemptId}.tools.json`);
const draftOf = (path: string): string => `${path}.draft`;

interface TransportContent {
  json: string;
  user?: AgentUser | undefined;
  handle?: string | undefined;
  toolBridge?: string | undefined;
}

/**
 * Writes `<attemptId>.json`, and `<attemptId>.handle.json` and `<attemptId>.tools/bridge.json` where there is one, readable by their owner only; a reader that
 * sees a file sees all of it. An agent of another user owns its files, and its group may pass through the directory.
 *
 * @param options.handle JSON
 * @param options.toolBridge JSON
 */
export async function writeTransport(
  directory: string,
  attemptId: string,
  { json, user, handle, toolBridge }: TransportContent,
): Promise<TransportFile> {
  const file = transportFile(directory, attemptId);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (user) {
    await chown(directory, -1, user.gid);
    await chmod(directory, 0o710);
  }
  if (handle !== undefined) {
    await writeWhole(file.handlePath, handle, user);
  }
  if (toolBridge !== undefined) {
    await writeToolBridge(file, toolBridge, user);
  }
  await writeWhole(file.path, json, user);
  return file;
}

/**
 * Writes the file of the tool bridge, or replaces it: a reader sees the whole of one of them.
 *
 * @param toolBridge JSON
 */
export async function writeToolBridge(
  { toolBridgeDirectory, toolBridgePath }: TransportFile,
  toolBridge: string,
  user: AgentUser | undefined,
): Promise<void> {
  await mkdir(toolBridgeDirectory, { recursive: true, mode: 0o700 });
  if (user) {
    await chown(toolBridgeDirectory, -1, user.gid);
    await chmod(toolBridgeDirectory, 0o710);
  }
  await writeWhole(toolBridgePath, toolBridge, user);
}

async function writeWhole(path: string, content: string, user: AgentUser | undefined): Promise<void> {
  const draft = draftOf(path);
  rmSync(draft, { force: true });
  await writeFile(draft, content, { mode: 0o600, flag: 'wx' });
  if (user) {
    await chown(draft, user.uid, user.gid);
  }
  await rename(draft, path);
}
