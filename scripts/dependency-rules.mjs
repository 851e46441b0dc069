/**
 * What must hold for the packages that a lockfile (version 3) names. Pure functions over its content: a change of the
 * lockfile is judged before anything of it is installed.
 */

/**
 * The only packages that may run a program when they are installed, and why they are trusted to. `allowScripts` in
 * package.json, which npm obeys, names the same ones: without versions, since npm refuses a pin where the lockfile
 * has no addresses. The lockfile pins them, by their integrity.
 */
export const installScripts = {
  '@parcel/watcher': 'of the test runner: compiles its addon where no compiled one is published, only when asked to',
  '@swc/core': 'of Temporal and the test runner: checks that the compiled compiler fits this machine',
  protobufjs: 'of gRPC: warns of a version range that does not fit',
  roaring: 'optional: fetches or compiles the bitmaps that the bitmap index is fast with',
  'unrs-resolver': 'of the test runner: checks that the compiled resolver fits this machine',
};

/** The workspaces of this package, by their name in node_modules: their packages are checked as ours are. */
export const workspaces = { 'runboard-client': 'clients/typescript', 'runboard-page': 'web' };

/** Licences that ask for no more than their notice, by SPDX identifier. */
export const allowedLicences = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
];

/** Production packages that are allowed one by one, with the licence that each was read to have. */
export const licenceExceptions = {
  argparse: { declared: 'Python-2.0', why: 'permissive; only the command line of markdown-it uses it' },
  'caniuse-lite': { declared: 'CC-BY-4.0', why: 'data of which browser knows what; attribution is its notice' },
  unionfs: { declared: undefined, why: 'declares none; its LICENSE file is the Unlicense' },
};

/** The name of the package at a path of the lockfile: `node_modules/a/node_modules/@b/c` is `@b/c`. */
const nameAt = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** Whether an SPDX expression of `AND`s or of `OR`s, but not of both, is satisfied by what is allowed. */
export function isAllowedLicence(expression) {
  if (typeof expression !== 'string') {
    return false;
  }
  const flat = expression.replace(/^\((.*)\)$/, '$1');
  const allOf = flat.split(' AND ');
  const anyOf = flat.split(' OR ');
  if (allOf.length > 1 && anyOf.length > 1) {
    return false;
  }
  const isAllowed = (licence) => allowedLicences.includes(licence);
  return allOf.length > 1 ? allOf.every(isAllowed) : anyOf.some(isAllowed);
}

/** Whether an entry of the lockfile is a workspace of ours, or the link to it. */
const isWorkspace = (path, { resolved, link }) =>
  link ? workspaces[nameAt(path)] === resolved : Object.values(workspaces).includes(path);

function licenceProblems(path, entry) {
  const { license, version, dev } = entry;
  const name = nameAt(path);
  if (dev || isWorkspace(path, entry) || isAllowedLicence(license)) {
    return [];
  }
  if (Object.hasOwn(licenceExceptions, name) && licenceExceptions[name].declared === license) {
    return [];
  }
  return [`${name} ${version}: the licence ${license ?? '(none declared)'} is not on the list of allowed ones`];
}

function originProblems(path, entry) {
  const { version, resolved, integrity, link, inBundle } = entry;
  const name = nameAt(path);
  if (isWorkspace(path, entry)) {
    return [];
  }
  if (link) {
    return [`${name}: is a link to a folder`];
  }
  if (!path.startsWith('node_modules/')) {
    return [`${path}: is a folder beside node_modules`];
  }
  return [
    ...(integrity?.startsWith('sha512-') || inBundle ? [] : [`${name} ${version}: has no SHA-512 integrity`]),
    // Without an address npm takes the package from the configured registry; any other source has to be written here.
    ...(resolved === undefined ? [] : [`${name} ${version}: is resolved to an address instead of the registry`]),
  ];
}

/** Whether a version, as numbers, is accepted by one comparator of a range of Node versions. */
function isAccepted(version, comparator) {
  const [, operator = '', digits = ''] = /^([<>=^~]*)v?(.*)$/.exec(comparator) ?? [];
  const parts = digits.split('.').map(Number).filter(Number.isInteger);
  const order = version.map((number, n) => number - (parts[n] ?? (n < parts.length ? 0 : operator ? 0 : number)));
  const sign = Math.sign(order.find((difference) => difference !== 0) ?? 0);
  // Below what a caret, a tilde or no operator fixes, anything later is accepted too.
  const fixed = { '^': 1, '~': 2, '': parts.length }[operator];
  if (fixed !== undefined) {
    return sign >= 0 && parts.slice(0, fixed).every((number, n) => number === version[n]);
  }
  return { '>': sign > 0, '>=': sign >= 0, '<': sign < 0, '<=': sign <= 0, '=': sign === 0 }[operator] ?? true;
}

/** Whether a range such as `^18 || >=20.9` accepts a version. */
export const acceptsNode = (range, version) =>
  range
    .replaceAll(/([<>=^~])\s+/g, '$1')
    .split('||')
    .some((all) =>
      all
        .trim()
        .split(/\s+/)
        .every((one) => one === '*' || isAccepted(version.split('.').map(Number), one)),
    );

/** The lowest Node that this package is for, of its own range `>=<version>`. */
const lowestNode = ({ engines }) => /^>=(\d+\.\d+)$/.exec(engines?.node ?? '')?.[1];

function engineProblems(entries, root) {
  const lowest = lowestNode(root ?? {});
  return lowest === undefined
    ? []
    : entries
        // An optional package is left out where it does not fit.
        .filter(([, { engines, optional }]) => engines?.node && !optional && !acceptsNode(engines.node, `${lowest}.0`))
        .map(
          ([path, { version, engines }]) =>
            `${nameAt(path)} ${version}: is for Node ${engines.node}, this package for ${lowest}`,
        );
}

/**
 * @param lockfile parsed package-lock.json
 * @param known the packages with install scripts: what they are is exactly what the lockfile must have
 * @returns one sentence for each thing that is wrong
 */
export function lockfileProblems(lockfile, known = installScripts) {
  if (lockfile.lockfileVersion !== 3) {
    return ['the lockfile is not of version 3'];
  }
  const entries = Object.entries(lockfile.packages).filter(([path]) => path !== '');
  const engines = engineProblems(entries, lockfile.packages['']);
  const scripted = new Set(entries.filter(([, entry]) => entry.hasInstallScript).map(([path]) => nameAt(path)));
  return [
    ...engines,
    ...entries.flatMap(([path, entry]) => [...originProblems(path, entry), ...licenceProblems(path, entry)]),
    ...[...scripted]
      .filter((name) => !Object.hasOwn(known, name))
      .map((name) => `${name}: has an install script, and is not one of ${Object.keys(known).join(', ')}`),
    ...Object.keys(known)
      .filter((name) => !scripted.has(name))
      .map((name) => `${name}: is listed as a package with an install script, and has none any more`),
  ];
}

/**
 * @param manifest parsed package.json, whose `allowScripts` lists which install scripts npm runs
 * @returns one sentence for each name that only one of the two lists has, or that is no plain name
 */
export function allowScriptsProblems({ allowScripts = {} }, known = installScripts) {
  const isAllowed = (name) => Object.hasOwn(allowScripts, name) && allowScripts[name] === true;
  return [
    ...Object.keys(allowScripts)
      .filter((name) => !Object.hasOwn(known, name))
      .map((name) => `${name}: is in allowScripts, and is not one of ${Object.keys(known).join(', ')}`),
    ...Object.keys(known)
      .filter((name) => !isAllowed(name))
      .map((name) => `${name}: is a package with a known install script that allowScripts does not allow`),
  ];
}

/** Statuses of a registry without audits, as mirrors do. */
const withoutAudits = [404, 405, 501];

/** Severities that are not accepted: the rules for what is shipped are stricter than for what builds and tests it. */
export const refusedSeverities = { production: ['high', 'critical'], development: ['critical'] };

/**
 * @param report what `npm audit --json` printed, parsed
 * @param lockfile the parsed lockfile that was audited
 * @returns `problems` to fail with; `unavailable` when the registry has no advisories to ask for, which no change of
 *   ours can mend. A registry that has them and does not respond is a problem.
 */
export function auditProblems(report, { packages }) {
  if (withoutAudits.includes(report?.statusCode)) {
    return { problems: [], unavailable: true };
  }
  if (typeof report?.vulnerabilities !== 'object') {
    return { problems: [`the registry gave no advisories: ${report?.message ?? 'no report'}`], unavailable: false };
  }
  const problems = Object.values(report.vulnerabilities).flatMap(({ via, nodes }) => {
    const use = nodes.every((path) => packages[path]?.dev) ? 'development' : 'production';
    // A string names the vulnerable package that this one only depends on, which is listed itself.
    return via
      .filter((cause) => typeof cause === 'object' && refusedSeverities[use].includes(cause.severity))
      .map(({ name, range, severity, title, url }) => `${name} ${range} (${use}): ${severity}: ${title} (${url})`);
  });
  return { problems, unavailable: false };
}
