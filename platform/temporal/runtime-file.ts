import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';

const runtime = z.object({
  pid: z.number().int(),
  startTime: z.string(),
  bootId: z.string(),
  address: z.string(),
  // One that an earlier version left running has none.
  httpAddress: z.string().optional(),
  uiUrl: z.string(),
});

/** The development server that uses a data directory: who it is, and where it answers. */
export type TemporalRuntime = z.infer<typeof runtime>;

export const runtimeFile = (dataDir: string): string => join(dataDir, 'runtime', 'temporal.json');

/** What the file says, or `undefined` when there is none or it is not ours. The process may have ended since. */
export async function readRuntime(dataDir: string): Promise<TemporalRuntime | undefined> {
  try {
    return runtime.parse(JSON.parse(await readFile(runtimeFile(dataDir), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Written beside and renamed: readers see the old or the new one. */
export async function writeRuntime(dataDir: string, content: TemporalRuntime): Promise<void> {
  const file = runtimeFile(dataDir);
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`);
  await rename(draft, file);
}

export const removeRuntime = (dataDir: string): Promise<void> => rm(runtimeFile(dataDir), { force: true });
