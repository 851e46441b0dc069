import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';

const runtime = z.object({
  pid: z.number().int(),
  startTime: z.string(),
  bootId: z.string(),
  address: z.string(),
  // One that an earlier version has started has none.
  httpAddress: z.string().optional(),
  /** Where its UI listens, if it has one. */
  uiAddress: z.object({ host: z.string(), port: z.number().int() }).optional(),
  /** Whether its HTTP API refuses callers; one that an earlier version has started may serve every caller. */
  httpApiClosed: z.boolean().default(false),
});

/** The development server that uses a data directory: its identity and its addresses. */
export type TemporalRuntime = z.infer<typeof runtime>;

export const runtimeFile = (dataDir: string): string => join(dataDir, 'runtime', 'temporal.json');

/** The file's content, or `undefined` when there is none or it is not Runboard's. The process may have ended since. */
export async function readRuntime(dataDir: string): Promise<TemporalRuntime | undefined> {
  try {
    return runtime.parse(JSON.parse(await readFile(runtimeFile(dataDir), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Written beside and renamed: readers see the old or the new one. */
export async function writeRuntime(dataDir: string, content: z.input<typeof runtime>): Promise<void> {
  const file = runtimeFile(dataDir);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
}

export const removeRuntime = (dataDir: string): Promise<void> => rm(runtimeFile(dataDir), { force: true });
