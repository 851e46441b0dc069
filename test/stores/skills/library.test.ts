import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SharedResourceFields } from '../../../contracts/knowledge/shared-resource';
import { analyzeSkill } from '../../../domain/skills/analyze';
import { skillLimits } from '../../../domain/skills/content';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createSkillLibrary, type SkillLibrary } from '../../../stores/knowledge/skills/library';
import { rootsOf } from '../../../stores/knowledge/skills/roots';
import type { Recorded } from '../../../stores/port/configured-records';

let directory: TempDir;
let root: string;
let library: SkillLibrary;
let resources: (SharedResourceFields & Recorded)[];
let analyses: number;

beforeEach(async () => {
  directory = await makeTempDir('skills');
  root = join(directory.path, 'skills');
  resources = [];
  analyses = 0;
  library = createSkillLibrary({
    sharedResources: { list: async () => resources, get: async (id) => resources.find((one) => one.id === id) },
    roots: rootsOf(directory.path, [join(directory.path, 'more'), join(directory.path, 'other', 'more')]),
    analyze: async (content) => {
      analyses += 1;
      return analyzeSkill(content);
    },
  });
});
afterEach(() => directory.remove());

async function write(path: string, content: string | Buffer = '---\nname: Example\n---\n'): Promise<void> {
  const file = join(directory.path, path);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, content);
}

const theSkill = async () => {
  const { skills } = await library.list();
  expect(skills).toHaveLength(1);
  return skills[0]!;
};
const kinds = async () => Object.fromEntries((await theSkill()).analysis.files.map(({ path, kind }) => [path, kind]));
const found = async () => (await theSkill()).analysis.findings.map(({ patternId }) => patternId);

describe('skill library', () => {
  it('finds directories of skills below the roots, and shared resources of the type', async () => {
    await write('skills/pdf/SKILL.md');
    await write('skills/pdf/inner/SKILL.md');
    await write('skills/group/mail/skill.md');
    await write('skills/notes.md');
    await write('more/extra/SKILL.md');
    const made = { revision: 1, createdAt: '', updatedAt: '', tags: [], projectIds: [] };
    resources = [
      { ...made, id: 'resource_0123456789ab', name: 'Shared', type: 'skill', content: 'Do it' },
      { ...made, id: 'resource_0123456789ac', name: 'Prompt', type: 'prompt', content: 'Do it' },
    ];
    const { skills, roots, truncated } = await library.list();
    expect(skills.map(({ path }) => path).sort()).toEqual([
      ...['more/extra', 'shared-resources/resource_0123456789ab', 'skills/group/mail', 'skills/pdf'],
    ]);
    expect({ roots, truncated }).toEqual({
      roots: [
        { root: 'skills', state: 'present' },
        { root: 'more', state: 'present' },
        { root: 'more-2', state: 'missing' },
      ],
      truncated: false,
    });
    for (const { skillId, path, digest } of skills) {
      expect(await library.get(skillId)).toMatchObject({ skillId, path, digest });
      expect(await library.target(path, true)).toMatchObject({ skillId, digest });
    }
    expect(await library.get('skill_000000000000')).toBeUndefined();
    expect(await library.get('resource_0123456789ac')).toBeUndefined();
  });

  it('examines a version once, and another one again', async () => {
    await write('skills/pdf/SKILL.md');
    await write('skills/pdf/run.sh', 'true\n');
    const first = await theSkill();
    expect(await theSkill()).toEqual(first);
    expect(analyses).toBe(1);
    await write('skills/pdf/run.sh', 'false\n');
    expect((await theSkill()).digest).not.toBe(first.digest);
    expect(analyses).toBe(2);
    await rename(join(root, 'pdf/run.sh'), join(root, 'pdf/walk.sh'));
    expect((await theSkill()).digest).not.toBe(first.digest);
  });

  it('follows no links: to files, to directories, of a skill, to itself', async () => {
    await write('secret/SKILL.md', 'TOP');
    await write('skills/pdf/SKILL.md');
    await symlink(join(directory.path, 'secret', 'SKILL.md'), join(root, 'pdf', 'file.md'));
    await symlink(join(directory.path, 'secret'), join(root, 'pdf', 'directory'));
    await symlink('.', join(root, 'pdf', 'loop'));
    await symlink(join(directory.path, 'secret'), join(root, 'linked'));
    expect(await kinds()).toEqual({
      'SKILL.md': 'text',
      'file.md': 'symbolic-link',
      directory: 'symbolic-link',
      loop: 'symbolic-link',
    });
    expect(await found()).toContain('symbolic-link');
    expect(JSON.stringify(await theSkill())).not.toContain('TOP');
    for (const path of [
      'skills/linked',
      'skills/linked/SKILL.md',
      'skills/pdf/file.md',
      'skills/pdf/directory/SKILL.md',
    ]) {
      expect(await library.target(path, true)).toBe('over-link');
    }
  });

  it('scans part of a skill, and nothing outside of the roots', async () => {
    await write('skills/pdf/SKILL.md');
    await write('skills/pdf/scripts/run.sh', 'sudo true\n');
    await write('secret.txt', 'TOP');
    expect(await library.target('skills/pdf/scripts/run.sh', true)).toMatchObject({
      skillId: null,
      targetType: 'file',
    });
    expect(await library.target('skills/pdf/scripts', true)).toMatchObject({ skillId: null, targetType: 'directory' });
    const part = await library.target('skills/pdf', false);
    expect(part).toMatchObject({ targetType: 'skill', analysis: { files: [{ path: 'SKILL.md' }], findings: [] } });
    for (const path of [
      'secret.txt',
      'skills/nothing',
      'elsewhere/pdf',
      'shared-resources/x',
      'skills/pdf/SKILL.md/x',
    ]) {
      expect(await library.target(path, true)).toBe('not-found');
    }
    for (const path of ['skills', 'shared-resources']) {
      expect(await library.target(path, true)).toBe('is-root');
    }
  });

  it('reads no pipes, and of binary and large files only what they are', async () => {
    await write('skills/pdf/SKILL.md');
    await write('skills/pdf/a.bin', Buffer.from([1, 0, 2]));
    await write('skills/pdf/latin.txt', Buffer.from([0x68, 0xe9]));
    await write('skills/pdf/large.txt', 'x');
    await truncate(join(root, 'pdf/large.txt'), 8_000_000_000);
    execFileSync('mkfifo', [join(root, 'pdf/pipe')]);
    expect(await kinds()).toEqual({
      'SKILL.md': 'text',
      'a.bin': 'binary',
      'latin.txt': 'binary',
      'large.txt': 'too-large',
      pipe: 'special',
    });
  });

  it('is bounded for deep and wide trees', async () => {
    await write('skills/pdf/SKILL.md');
    await write(`skills/pdf/${'d/'.repeat(30)}deep.txt`, 'x');
    await mkdir(join(root, 'pdf', 'wide'));
    await Promise.all(Array.from({ length: 1_100 }, (_, at) => writeFile(join(root, 'pdf', 'wide', `f${at}`), 'x')));
    const { analysis } = await theSkill();
    expect(analysis.files.length).toBeLessThanOrEqual(skillLimits.files);
    expect(await found()).toEqual(expect.arrayContaining(['too-many-files', 'deep-directories']));
    await rm(join(root, 'pdf'), { recursive: true });
    await Promise.all(Array.from({ length: 220 }, (_, at) => write(`skills/s${at}/SKILL.md`)));
    const { skills, truncated } = await library.list();
    expect(skills).toHaveLength(200);
    expect(truncated).toBe(true);
  });

  it('has no skills where a root is missing or a file', async () => {
    expect((await library.list()).skills).toEqual([]);
    await write('skills', 'not a directory');
    expect((await library.list()).skills).toEqual([]);
    expect(await library.target('skills/x', true)).toBe('not-found');
  });
});
