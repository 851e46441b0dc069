import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

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

/** Writes `<attemptId>.json`, readable by its owner only; whoever sees the file sees all of it. */
export async function writeTransport(directory: string, attemptId: string, json: string): Promise<TransportFile> {
  const file = transportFile(directory, attemptId);
  const { path } = file;
  const draft = `${path}.draft`;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await rm(draft, { force: true });
  await writeFile(draft, json, { mode: 0o600, flag: 'wx' });
  await rename(draft, path);
  return file;
}
