import type { Phase } from '../../contracts/common';
import type { HarnessEvidence } from '../../contracts/runs/completion';
import { aContractInput, aPreset } from '../../test/support/factories/contract';
import { runtimeManifest } from '../capabilities';
import { compileContract } from '../contract';
import type { ContractInput } from '../contract/input';
import { compilePhase, legacyEvidence } from '../phases/evidence';
import { launchSources } from '../phases/sources';
import { compileCompletion, judgementOf } from '.';
import { phaseSpansOf } from './phase-spans';

const at = '2026-01-01T00:00:00.000Z';
const runtime = runtimeManifest(
  'process',
  { ok: true, diagnostics: [] },
  {
    probedAt: at,
    hostEnforced: [
      ...['filesystem.deny-paths', 'filesystem.descendants', 'network.disable', 'tool.calls', 'tool.mcp'],
      ...['network.allowlist', 'credential.broker'],
    ],
  },
);

/** The completion of a run that was launched in the first phase and went through the others. */
function completionIn(
  [launch, ...later]: [Phase | undefined, ...Phase[]],
  harness: Partial<HarnessEvidence>,
  fields: Partial<ContractInput> = {},
) {
  const input = aContractInput({ runtime, ...fields });
  const sources = launchSources({ ...input, allowedSideEffects: input.objective.allowedSideEffects });
  const evidenceOf = (phase: Phase | undefined) =>
    phase === undefined ? legacyEvidence(sources, runtime) : compilePhase({ phase }, sources, runtime).evidence;
  const launchEvidence = evidenceOf(launch);
  const { taskEnvelope } = compileContract({ ...input, phase: launchEvidence.phase, phaseEvidence: launchEvidence });
  const history = later.map((phase, index) => ({
    sequence: index + 1,
    kind: 'transition' as const,
    evidence: evidenceOf(phase),
    at,
  }));
  const judgement = judgementOf(
    { ...input, taskEnvelope, providerRuntimeManifest: runtime, commitPolicy: input.commitPolicy.value },
    {
      launchPhase: launchEvidence.phase,
      launchEvidence,
      evidence: history.at(-1)?.evidence ?? launchEvidence,
      sequence: history.length,
      history,
    },
  );
  const claim = { terminalSource: 'process' as const, status: 'success' as const, summary: 'done', claims: {} };
  return compileCompletion('attempt_aaaaaaaa', {
    envelope: taskEnvelope,
    claim: { ...claim, harness: { ended: 'exit', ...harness } },
    completedAt: at,
    judgement,
  });
}

const written = (...paths: string[]) => ({
  changedFiles: paths.map((path) => ({ path, status: 'added' as const })),
});
const committed = { commits: [{ sha: 'c'.repeat(40), subject: 'Work' }] };
const codes = ({ downgrades }: { downgrades: { code: string }[] }) => downgrades.map(({ code }) => code);

describe('the end of a run is judged against its phase', () => {
  test.each([
    ['explore', written('a.ts')],
    ['plan', written('src/a.ts')],
    ['explore', committed],
    ['plan', committed],
  ] as const)('a run in %s that changed %j is no success', (phase, harness) => {
    const completion = completionIn([phase], harness);
    expect(completion).toMatchObject({
      status: 'partial',
      claimedStatus: 'success',
      phase: { phase, evidence: 'profile', launchPhase: phase, sequence: 0, digest: expect.stringMatching(/^sha256:/) },
    });
    expect(codes(completion)).toEqual(['phase-violated']);
    expect(completion.sideEffects.every(({ authorized }) => !authorized)).toBe(true);
  });

  test('the plan of a phase may be written, and nothing else', () => {
    expect(completionIn(['plan'], written('.board/plan.md'))).toMatchObject({ status: 'success' });
    expect(codes(completionIn(['plan'], written('.board/plan.md', '.board/plan.md.bak')))).toEqual(['phase-violated']);
  });

  test.each([['implement'], ['verify'], ['publish'], [undefined]] as const)(
    'a run in %s may write and commit',
    (phase) => {
      const completion = completionIn([phase], { ...written('a.ts'), ...committed });
      expect(completion).toMatchObject({
        status: 'success',
        phase: { phase: phase ?? 'implement', evidence: phase === undefined ? 'legacy' : 'profile' },
      });
      expect(completion.sideEffects.every(({ authorized }) => authorized)).toBe(true);
    },
  );

  test('without a look between two phases, what either allowed counts', () => {
    expect(completionIn(['explore', 'implement'], { ...written('a.ts'), ...committed })).toMatchObject({
      status: 'success',
      phase: { phase: 'implement', launchPhase: 'explore', sequence: 1, transitions: [{ phase: 'implement' }] },
    });
    expect(codes(completionIn(['explore', 'plan'], written('a.ts')))).toEqual(['phase-violated']);
  });

  test.each([
    ['before it was allowed', ['explore', 'implement'], 0],
    ['after it was narrowed', ['implement', 'explore'], 1],
  ] as const)('with each change inspected, what was done %s is seen', (_when, phases, guilty) => {
    const spans = (at: number) =>
      [0, 1].map((index) => ({
        fromSequence: index,
        toSequence: index,
        commits: index === at ? committed.commits : [],
        changedFiles: index === at ? written('a.ts').changedFiles : [],
        truncated: false,
      }));
    const end = { ...written('a.ts'), ...committed };
    const violating = completionIn([...phases], { ...end, phaseSpans: spans(guilty) });
    expect(codes(violating)).toEqual(['phase-violated', 'phase-violated']);
    const lawful = completionIn([...phases], { ...end, phaseSpans: spans(1 - guilty) });
    expect(lawful).toMatchObject({ status: 'success', downgrades: [] });
    // A change that was undone again was made nevertheless.
    expect(codes(completionIn([...phases], { phaseSpans: spans(guilty) }))).toContain('phase-violated');
  });

  test('an address outside is a mutation, which only some phases allow', () => {
    const { sideEffects } = completionIn(['implement'], {});
    expect(sideEffects).toEqual([]);
    const effects = (phase: Phase | undefined) => {
      const phaseEvidence = phase && compilePhase({ phase }, {}, runtime).evidence;
      const { taskEnvelope } = compileContract(
        aContractInput({ runtime, ...(phaseEvidence ? { phaseEvidence } : {}) }),
      );
      return taskEnvelope.allowedSideEffects.map(({ kind }) => kind);
    };
    expect(effects('explore')).toEqual(['process-execute', 'artifact-write', 'task-mutate']);
    expect(effects('implement')).not.toContain('external-write');
    expect(effects('publish')).toContain('external-write');
    expect(effects(undefined)).toHaveLength(7);
  });
});

describe('the end of a run is judged against its sandbox preset', () => {
  const denying = (...deniedPaths: string[]) => ({ sandbox: aPreset({ filesystem: { deniedPaths } }) });

  test.each([
    ['secrets', 'secrets/key.pem'],
    ['/srv/worktrees/task_20260101_aaaaaa/secrets', 'secrets/key.pem'],
    ['**/*.pem', 'deep/down/key.pem'],
    ['config/*.json', 'config/a.json'],
    ['/', 'anything'],
  ])('%s denies %s', (denied, path) => {
    const completion = completionIn([undefined], written('src/a.ts', path), denying(denied));
    expect(completion.status).toBe('partial');
    expect(codes(completion)).toContain('sandbox-violated');
    expect(completion.sideEffects).toContainEqual(expect.objectContaining({ target: path, authorized: false }));
  });

  test.each([
    ['secrets', 'secrets-not/a'],
    ['config/*.json', 'config/deep/a.json'],
    ['/etc', 'etc/passwd'],
  ])('%s does not deny %s', (denied, path) => {
    expect(completionIn([undefined], written(path), denying(denied))).toMatchObject({ status: 'success' });
  });

  test('a file that was renamed out of a denied place was touched there', () => {
    const changedFiles = [{ path: 'a.pem', previousPath: 'secrets/a.pem', status: 'renamed' as const }];
    expect(codes(completionIn([undefined], { changedFiles }, denying('secrets')))).toEqual(['sandbox-violated']);
  });
});

const look = (createdAt: string, path: string, headSha = 'a') => ({
  createdAt,
  headSha,
  changes: [{ path, status: 'added' as const, attribution: 'agent' as const, conflict: false }],
  truncated: false,
});

test('a file that is changed again in a phase is listed once for it', () => {
  const times = ['01', '02', '03', '06', '07', '08'];
  const spans = phaseSpansOf(
    { ended: 'exit', headSha: 'a', ...written('again') },
    {
      history: [{ at: '2026-01-01T00:00:05.000Z' }],
      looks: times.map((second) => look(`2026-01-01T00:00:${second}.000Z`, 'again')),
      baselineSha: 'a',
    },
  );
  const span = (fromSequence: number, toSequence: number) =>
    expect.objectContaining({ fromSequence, toSequence, ...written('again') }) as object;
  expect(spans).toEqual([span(0, 0), span(0, 1), span(1, 1)]);
});

test('checkpoints record in which phase something was done', () => {
  const spans = phaseSpansOf(
    {
      ended: 'exit',
      headSha: 'b',
      commits: [{ sha: 'b', subject: 'x' }],
      ...written('before', 'around', 'after', 'late'),
    },
    {
      history: [{ at: '2026-01-01T00:00:05.000Z' }],
      looks: [
        look('2026-01-01T00:00:01.000Z', 'before'),
        look('2026-01-01T00:00:06.000Z', 'around'),
        look('2026-01-01T00:00:09.000Z', 'after', 'b'),
      ],
      baselineSha: 'a',
    },
  );
  const paths = spans?.map(({ fromSequence, toSequence, changedFiles, commits }) => [
    ...[fromSequence, toSequence, commits.length],
    ...changedFiles.map(({ path }) => path),
  ]);
  expect(paths).toEqual([
    [0, 0, 0, 'before'],
    [0, 1, 0, 'around'],
    [1, 1, 1, 'after'],
    [1, 1, 0, 'late'],
  ]);
  expect(
    phaseSpansOf({ ended: 'exit' }, { history: [], looks: [look('2026-01-01T00:00:01.000Z', 'x')], baselineSha: 'a' }),
  ).toBeUndefined();
});
