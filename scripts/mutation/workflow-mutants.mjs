/**
 * Bundles the workflows once with every guard mutated, for a sandbox that Stryker's own switch does not reach: which
 * mutant is active for a workflow is a part of its id, so that one worker runs all of them.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { mutateGuardsOnly } from './guard-mutators.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const requireFromCore = createRequire(createRequire(import.meta.url).resolve('@stryker-mutator/core'));
const instrumenterUrl = pathToFileURL(requireFromCore.resolve('@stryker-mutator/instrumenter')).href;

/** What the ids of attempts, tasks and recordings have in them when a mutant is active for their workflows. */
export const markerOf = (id) => `m${id.padStart(4, '0')}`;

/** Stryker's own header reads `globalThis` and the environment, which do not reach a workflow. */
const header = `
import { inWorkflowContext as stryInside, workflowInfo as stryInfo } from '@temporalio/workflow';
const stryMutAct_9fa48 = (id) => stryInside() && Number(/m(\\d{4})/.exec(stryInfo().workflowId)?.[1]) === Number(id);
const stryCov_9fa48 = (..._ids) => true;
`;

const silent = new Proxy({}, { get: (_, name) => () => name !== 'isDebugEnabled' && undefined });

const sourcesOf = (directory) =>
  readdirSync(directory, { recursive: true })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .sort();

/**
 * @param work a directory of its own below the repository, for what is compiled; it is removed first
 * @returns the mutants with their locations, 1-based, and the bundle with all of them
 */
export async function workflowMutants(work) {
  mutateGuardsOnly();
  const { Instrumenter } = await import(instrumenterUrl);
  const names = sourcesOf(join(root, 'workflows'));
  const files = names.map((name) => ({
    name: join('workflows', name),
    mutate: true,
    content: readFileSync(join(root, 'workflows', name), 'utf8'),
  }));
  const options = { plugins: null, excludedMutations: [], ignorers: [], noHeader: true };
  const { files: mutated, mutants } = await new Instrumenter(silent).instrument(files, options);

  rmSync(work, { recursive: true, force: true });
  mkdirSync(join(work, 'workflows'), { recursive: true });
  cpSync(join(root, 'workflows'), join(work, 'workflows'), { recursive: true });
  for (const { name, content } of mutated) {
    writeFileSync(join(work, name), header + content);
  }
  for (const folder of ['platform', 'contracts', 'domain', 'activities', 'stores', 'providers']) {
    symlinkSync(join(root, folder), join(work, folder));
  }
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(work, 'workflows', 'index.ts'),
    logger: new DefaultLogger('WARN'),
  });
  // Clients are beside their workflow and not in the bundle: nothing that replays could find their mutants.
  const bundled = new Set([...code.matchAll(/stryMutAct_9fa48\(\\?["'](\d+)/g)].map(([, id]) => id));
  const places = mutants
    .filter(({ id }) => bundled.has(id))
    .map(({ id, fileName, location: { start }, replacement, mutatorName }) => ({
      id,
      file: fileName,
      line: start.line + 1,
      column: start.column + 1,
      mutatorName,
      replacement,
    }));
  return { mutants: places, code };
}
