import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The transport document of one attempt on disk. */
export interface TransportFile {
  path: string;
  remove(): Promise<void>;
}

/** Writes `<attemptId>.json`, readable by its owner only; whoever sees the file sees all of it. */
export async function writeTransport(directory: string, attemptId: string, json: string): Promise<TransportFile> {
  const path = join(directory, `${attemptId}.json`);
  const draft = `${path}.draft`;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await rm(draft, { force: true });
  await writeFile(draft, json, { mode: 0o600, flag: 'wx' });
  await rename(draft, path);
  return { path, remove: () => rm(path, { force: true }) };
}
