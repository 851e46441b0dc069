import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import sdk from '@temporalio/worker/package.json';

const dist = join(__dirname, '..');

/** The layers that workflow code may import. */
const sharedLayers = ['contracts', 'domain', 'platform'];

/**
 * Bundles the compiled workflows into one file, so that a worker starts in one second instead of four and every worker
 * runs the same code. Does nothing when neither the workflows nor the SDK changed.
 */
async function bundleWorkflows(bundle: string, workflows: string, entry: string): Promise<void> {
  const hashFile = `${bundle}.sha256`;
  const hash = await hashOf([...sharedLayers, 'workflows', workflows]);
  if (existsSync(bundle) && (await readFile(hashFile, 'utf8').catch(() => '')) === hash) {
    return;
  }

  const { code } = await bundleWorkflowCode({
    workflowsPath: join(dist, workflows, entry),
    workflowInterceptorModules: [join(dist, 'workflows', 'trace-header.js')],
    logger: new DefaultLogger('WARN'),
  });
  // A worker that starts right now reads the old one or the new one.
  await writeFile(`${bundle}.new`, code);
  await rename(`${bundle}.new`, bundle);
  await writeFile(hashFile, hash);
}

/** Hash of everything that can change a bundle: the SDK and the compiled files of these folders of `dist/`. */
async function hashOf(folders: string[]): Promise<string> {
  const hash = createHash('sha256').update(sdk.version);
  for (const folder of folders) {
    const names = await readdir(join(dist, folder), { recursive: true });
    for (const name of names.filter((each) => each.endsWith('.js')).sort()) {
      hash.update(`\0${folder}/${name}\0`).update(await readFile(join(dist, folder, name)));
    }
  }
  return hash.digest('hex');
}

async function bundleAll(): Promise<void> {
  await bundleWorkflows(join(dist, 'workflow-bundle.js'), 'workflows', 'index.js');
  await bundleWorkflows(join(dist, 'pinned-workflow-bundle.js'), 'workflows', 'pinned.js');
  for (const service of ['plants', 'workflow-runs']) {
    await bundleWorkflows(join(dist, `${service}-workflow-bundle.js`), `services/${service}`, 'workflow.js');
  }
}

void bundleAll();
