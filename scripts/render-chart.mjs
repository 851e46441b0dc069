/**
 * Renders the chart with the values that tests know, into the files that they read: `npm run chart:render`. It needs Helm 3.
 * `--check` compares them instead. Each file names the digest of the chart that it was rendered from, so that a test notices a change without Helm.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

const root = fileURLToPath(new URL('..', import.meta.url));
const chart = join(root, 'deploy', 'helm', 'runboard');

/** Where the rendered files are. */
const renderedFolder = join(root, 'test', 'contract', 'fixtures', 'helm');

const required = [
  'secrets.existingSecret=runboard',
  'mongodb.url=mongodb://board@mongo/board',
  'temporal.address=t:7233',
];

/** What is rendered, by the name of the file: with everything on, with only what is required, with the other autoscaling. */
const renderings = {
  'full.yaml': ['--values', join(chart, 'ci', 'values.yaml')],
  'minimal.yaml': ['--set', required.join(',')],
  'hpa.yaml': [
    '--set',
    [...required, 'worker.autoscaling.mode=hpa'].join(','),
    '--show-only',
    'templates/worker-autoscaling.yaml',
  ],
};

/** SHA-256 of every file of the chart with its name. */
function chartDigest() {
  const hash = createHash('sha256');
  for (const name of readdirSync(chart, { recursive: true }).sort()) {
    const path = join(chart, name);
    if (statSync(path).isFile()) {
      hash.update(relative(chart, path)).update('\0').update(readFileSync(path)).update('\0');
    }
  }
  return hash.digest('hex');
}

const heading = () => `# Rendered by npm run chart:render from the chart with the digest ${chartDigest()}.\n`;

/** One rendering, as its file has it; `undefined` without Helm. @throws Error with what Helm complains of */
function render(name) {
  const args = ['template', 'board', chart, '--namespace', 'runboard', '--kube-version', '1.34.0', ...renderings[name]];
  const { stdout, stderr, status, error } = spawnSync('helm', args, { encoding: 'utf8' });
  // A folder of the path that may not be read is no reason to fail either.
  if (error?.code === 'ENOENT' || error?.code === 'EACCES') {
    return undefined;
  }
  if (status !== 0) {
    throw error ?? new Error(stderr);
  }
  return `${heading()}${stdout}`;
}

/** What is rendered, however a version of Helm spaces it. */
const contentOf = (text) => JSON.stringify(parseAllDocuments(text).map((document) => document.toJS()));

const outdated = [];
mkdirSync(renderedFolder, { recursive: true });
for (const name of Object.keys(renderings)) {
  const file = join(renderedFolder, name);
  const rendered = render(name);
  if (process.argv.includes('--check')) {
    // Without Helm, the digest is all that shows that a file is of this chart.
    const found = readFileSync(file, 'utf8');
    if (!found.startsWith(heading()) || (rendered !== undefined && contentOf(found) !== contentOf(rendered))) {
      outdated.push(name);
    }
  } else if (rendered === undefined) {
    console.error('Helm 3 is needed to render the chart: https://helm.sh');
    process.exit(1);
  } else {
    writeFileSync(file, rendered);
  }
}
if (outdated.length > 0) {
  console.error(`The chart has changed since ${outdated.join(', ')}: npm run chart:render`);
  process.exit(1);
}
