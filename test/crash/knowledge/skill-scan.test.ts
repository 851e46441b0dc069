import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { skillScanWorkflowId } from '../../../workflows/skill-scan/messages';
import { loadFirst } from '../../support/processes/node-options';
import { type Service, soonAgain, startService } from '../../support/stack/service';

let files: TempDir;
let service: Service;
let connection: Connection;
const skills = ['one', 'two', 'three', 'four'];

/** Preloaded by the worker: it is killed right after the second scan was stored, before the entry of it is. */
const preload = (mark: string) => `
if (/dist\\/worker\\/main\\.js$/.test(process.argv[1] ?? '')) {
  const fs = require('node:fs');
  const Module = require('node:module');
  const load = Module._load;
  let stored = 0;
  const killing = (create) => (deps) => create({
    ...deps,
    skillScans: {
      ...deps.skillScans,
      add: async (...args) => {
        await deps.skillScans.add(...args);
        stored += 1;
        if (stored === 2 && !fs.existsSync(${JSON.stringify(mark)})) {
          fs.writeFileSync(${JSON.stringify(mark)}, String(process.pid));
          process.kill(process.pid, 'SIGKILL');
        }
      },
    },
  });
  Module._load = function (...args) {
    const loaded = load.apply(this, args);
    return typeof loaded?.createSkillScanActivities === 'function'
      ? { ...loaded, createSkillScanActivities: killing(loaded.createSkillScanActivities) }
      : loaded;
  };
}
`;

describe('kill -9 in the middle of the scan of all skills', () => {
  beforeAll(async () => {
    files = await makeTempDir('skill-kill');
    const hook = join(files.path, 'hook.cjs');
    await writeFile(hook, preload(join(files.path, 'killed')));
    service = await startService({ NODE_OPTIONS: loadFirst(hook) }, { restart: soonAgain });
    for (const name of skills) {
      const directory = join(service.dataDir, 'skills', name);
      await mkdir(directory, { recursive: true });
      await writeFile(join(directory, 'SKILL.md'), '---\ncapabilities: []\n---\n```sh\nsudo make it\n```\n');
    }
    connection = await Connection.connect({ address: service.temporalAddress });
  });
  afterAll(async () => {
    await connection.close();
    await service.close();
    await files.remove();
  });

  it('another try scans the rest, and nothing is stored or audited twice', async () => {
    await new Client({ connection }).schedule.getHandle(skillScanWorkflowId).trigger();
    await eventually(() => expect(existsSync(join(files.path, 'killed'))).toBe(true));
    const entries = async (action: string) => {
      const { body } = await service.call.get(`/api/audit?action=${action}`);
      return body.entries as { resource: string; details: { path?: string } }[];
    };
    await eventually(async () => expect(await entries('skill.mismatch')).toHaveLength(skills.length));
    const { body: scans } = await service.call.get('/api/skills/security/scans');
    const paths = skills.map((name) => `skills/${name}`).sort();
    expect(scans.map(({ path }: { path: string }) => path).sort()).toEqual(paths);
    expect((await entries('skill.scan')).map(({ details }) => details.path).sort()).toEqual(paths);
    expect(new Set((await entries('skill.mismatch')).map(({ resource }) => resource)).size).toBe(skills.length);
  });
});
