import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LaunchSource, launchSource } from '../../contracts/runs/admission';

const root = join(__dirname, '..', '..');

/** The code that launches: not what only describes a launch, and no tests. */
const code = ['activities', 'api', 'workflows', 'worker']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => readFileSync(join(root, file), 'utf8'));

/** Admission takes launches of these, and nothing makes one: see docs/use/runs/admission.md. */
const withoutProducer: LaunchSource[] = [];

const produced = (source: LaunchSource): boolean => code.some((text) => text.includes(`source: '${source}', edge`));

describe('launch sources', () => {
  it.each(launchSource.options)('launches by %s have a producer, or are named as those that have none', (source) => {
    expect(produced(source)).toBe(!withoutProducer.includes(source));
  });
});
