import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir } from '../../../platform/testing/temp-dir';

/** Presets of commands: the first has no network, the second that of its host. */
export const presets = {
  presets: [
    { id: 'closed', name: 'Closed', network: { defaultEgress: 'deny' } },
    { id: 'open', name: 'Open' },
  ],
};

/** A file of sandbox presets, and the settings that a service finds it by. */
export async function aPresetsFile(content: unknown = presets) {
  const directory = await makeTempDir('presets');
  const path = join(directory.path, 'presets.json');
  await writeFile(path, JSON.stringify(content));
  return { settings: { WORKFLOW_RUNS_SANDBOX_PRESETS: path }, close: () => directory.remove() };
}
