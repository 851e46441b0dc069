import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transform } from '@swc/core';
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
    workflowInterceptorModules: ['prove-activities.js', 'trace-header.js'].map((name) => join(dist, 'workflows', name)),
    logger: new DefaultLogger('WARN'),
  });
  // A worker that starts right now reads the old one or the new one.
  await writeFile(`${bundle}.new`, await compacted(code));
  await rename(`${bundle}.new`, bundle);
  await writeFile(hashFile, hash);
}

const inlineMap = '//# sourceMappingURL=data:application/json;charset=utf-8;base64,';

/**
 * A bundle without comments, line breaks and copies of its sources: a worker holds its text twice, for itself and for its workflow
 * thread, and with a single character beyond Latin-1 in twice the size. Names and positions in stack traces are what they were.
 */
async function compacted(bundle: string): Promise<string> {
  const at = bundle.lastIndexOf(inlineMap);
  const inputSourceMap = Buffer.from(bundle.slice(at + inlineMap.length), 'base64').toString();
  const { code, map = '' } = await transform(bundle.slice(0, at), {
    configFile: false,
    swcrc: false,
    isModule: false,
    inputSourceMap,
    sourceMaps: true,
    minify: true,
    jsc: {
      target: 'es2023',
      parser: { syntax: 'ecmascript' },
      minify: { compress: false, mangle: false, format: { comments: false, asciiOnly: true } },
    },
  });
  const { sourcesContent: _, ...positions } = JSON.parse(map) as Record<string, unknown>;
  return `${code}\n${inlineMap}${Buffer.from(JSON.stringify(positions)).toString('base64')}`;
}

/** Hash of everything that can change a bundle: the SDK, this script, and the compiled files of these folders of `dist/`. */
async function hashOf(folders: string[]): Promise<string> {
  const hash = createHash('sha256')
    .update(sdk.version)
    .update(await readFile(__filename));
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
