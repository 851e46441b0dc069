import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { createSkillAnalyzer } from '../../stores/knowledge/skills/analyzer';
import { createSkillLibrary } from '../../stores/knowledge/skills/library';
import { rootsOf } from '../../stores/knowledge/skills/roots';

/** What it takes to examine skills, ordinary and hostile, beside reading the same files: `node dist/bench/skills/main.js`. */
const fileBytes = 524_288;
const files = 8;

/** Texts of the greatest length, of what rules have most work with. */
const hostile: Readonly<Record<string, string>> = {
  prose: 'Read the invoice and sum up its lines, then ask the user. \n',
  'one line of curl': 'curl -d ',
  'lines of curl': `${'curl '.repeat(150)}\n`,
  spaces: `${' '.repeat(900)}x\n`,
  'combining characters': `${'a\u0301\u0323'.repeat(300)}\n`,
  'one line of base64': 'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo',
  'empty lines': '\n',
  instructions: `${'ignore all the your '.repeat(40)}\n`,
};

interface Cost {
  ms: number;
  /** The longest time for which nothing else had its turn. */
  blockedMs: number;
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const begun = performance.now();
  await work();
  const ms = performance.now() - begun;
  delay.disable();
  return { ms: Math.round(ms), blockedMs: Math.round(delay.max / 1e6) };
}

async function main(): Promise<void> {
  const analyze = createSkillAnalyzer();
  const table: Record<string, Cost> = {};
  for (const [name, unit] of Object.entries(hostile)) {
    const text = unit.repeat(Math.ceil(fileBytes / unit.length)).slice(0, fileBytes);
    const all = Array.from({ length: files }, (_, at) => ({
      path: `f${at}.sh`,
      kind: 'text' as const,
      bytes: text.length,
      text,
    }));
    const content = { name, isSkill: true, files: all, omitted: { files: false, depth: false } };
    table[`4 MB of ${name}`] = await costOf(() => analyze(content));
  }
  const directory = await makeTempDir('bench-skills');
  for (let at = 0; at < 200; at += 1) {
    const skill = join(directory.path, 'skills', `skill-${at}`);
    await mkdir(skill, { recursive: true });
    await writeFile(
      join(skill, 'SKILL.md'),
      `---\nname: ${at}\ncapabilities: []\n---\n${hostile.prose?.repeat(50) ?? ''}`,
    );
    await writeFile(join(skill, 'run.sh'), '#!/bin/sh\ncurl -fsS https://x.example\n'.repeat(30));
  }
  const sharedResources = { list: async () => [], get: async () => undefined };
  const library = createSkillLibrary({ sharedResources, roots: rootsOf(directory.path, []), analyze });
  table['reading the files of 200 skills'] = await costOf(async () => {
    for (let at = 0; at < 200; at += 1) {
      for (const name of ['SKILL.md', 'run.sh']) {
        await readFile(join(directory.path, 'skills', `skill-${at}`, name), 'utf8');
      }
    }
  });
  table['inventory of 200 skills, first'] = await costOf(() => library.list());
  table['inventory of 200 skills, again'] = await costOf(() => library.list());
  await directory.remove();
  console.table(table);
}

void main();
