import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '..', '..');

/**
 * Why each message of a workflow may be believed. A new one has to be put here, and to be made so:
 *
 * - `proof`: refused unless the API has signed it;
 * - `operator`: without a proof it is `operator:temporal`'s, in the audit log, and in the list of docs/operate/operators.md;
 * - `stores`: names a record; what is done is decided by the stores;
 * - `shown`: changes only what operators see in Temporal, never what is done;
 * - `read`: responds, and changes nothing.
 */
const trust: Record<string, 'proof' | 'operator' | 'stores' | 'shown' | 'read'> = {
  'workflows/admission-scheduler: signal look': 'stores',
  'workflows/agent-run: signal approvalChanged': 'shown',
  'workflows/agent-run: signal capacityReserved': 'stores',
  'workflows/agent-run: signal phaseChanged': 'stores',
  'workflows/agent-run: update command': 'operator',
  'workflows/agent-run: update complete': 'operator',
  'workflows/agent-run: update launch': 'read',
  'workflows/agent-run: update stop': 'operator',
  'workflows/cancel-execution-tree: update closed': 'read',
  'workflows/goal: signal look': 'stores',
  'workflows/decision-review: signal reviewChanged': 'stores',
  'workflows/issue-sync: signal changed': 'stores',
  'workflows/issue-sync: update syncNow': 'proof',
  'workflows/recovery: update cancel': 'proof',
  'workflows/run-approval: signal approvalClosed': 'stores',
  'workflows/run-approval: update decide': 'proof',
  'workflows/temporary-authority: update begun': 'read',
  'workflows/worktree: update operate': 'proof',
  'services/plants: update created': 'read',
  'services/workflow-runs/runs/execution: signal lookAgain': 'stores',
  'services/workflow-runs/runs/execution: signal lookAtChild': 'stores',
  'services/workflow-runs/runs/execution: update answer': 'proof',
  'services/workflow-runs/runs/execution: update cancel': 'proof',
  'services/workflow-runs/runs/execution: update deliver': 'proof',
  'services/workflow-runs/runs/execution: update pause': 'proof',
  'services/workflow-runs/runs/execution: update steer': 'proof',
  'services/workflow-runs/runs/execution: update unpause': 'proof',
  'services/workflow-runs/sessions: update accepted': 'read',
};

/** The code of everything that workflows may be made of. */
const sources = ['workflows', 'services'].flatMap((part) =>
  readdirSync(join(root, part), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => ({ path: join(part, file), code: readFileSync(join(root, part, file), 'utf8') })),
);

const definition = /\bdefine(Update|Signal|Query)\b(?!,)[^'"`]*?\(\s*['"`]([^'"`]+)['"`]/g;
const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

describe('proofs of workflow messages', () => {
  test('every update, signal and query has a reason to be believed', () => {
    const defined = sources.flatMap(({ path, code }) =>
      [...code.matchAll(definition)].map(
        ([, kind, name]) => `${directoryOf(path)}: ${kind?.toLowerCase() ?? ''} ${name ?? ''}`,
      ),
    );
    expect(defined.sort()).toEqual(Object.keys(trust).sort());
  });

  test('no message is defined or taken in another way', () => {
    for (const { path, code } of sources) {
      const calls = [...code.matchAll(/\bdefine(?:Update|Signal|Query)\s*[<(]/g)].length;
      expect([path, [...code.matchAll(definition)].length]).toEqual([path, calls]);
      expect([path, /setDefault(?:Update|Signal|Query)Handler/.test(code)]).toEqual([path, false]);
      expect([path, /setHandler\(\s*(?:['"`]|define)/.test(code)]).toEqual([path, false]);
    }
  });

  test('what operators may send is in their list', () => {
    const docs = readFileSync(join(root, 'docs', 'operate', 'operators.md'), 'utf8');
    const listed = [...docs.matchAll(/^\| update `(\w+)` /gm)].map(([, name]) => name);
    const allowed = Object.keys(trust).filter((name) => trust[name] === 'operator');
    expect(listed.sort()).toEqual(allowed.map((name) => name.split(' ').at(-1)).sort());
  });

  test('what needs a proof is refused without one before it is accepted', () => {
    const withProof = Object.keys(trust).filter((name) => trust[name] === 'proof');
    for (const directory of new Set(withProof.map((name) => name.slice(0, name.indexOf(':'))))) {
      const code = sources.filter(({ path }) => directoryOf(path) === directory).map((source) => source.code);
      expect([directory, code.some((text) => /\b(?:requireProof|mustBeSigned)\(/.test(text))]).toEqual([
        directory,
        true,
      ]);
    }
  });
});
