import { phaseAtLaunch } from '../../activities/agent-run/prepare/launch-phase';
import { runtimeManifest } from '../../domain/capabilities';
import { compilePhase } from '../../domain/phases/evidence';
import type { PhaseRecord } from '../../stores/runs/phase-store';
import { aContractInput } from '../support/factories/contract';
import { confinedAgent } from '../support/runs/phases';

const runtime = runtimeManifest(
  'process',
  { ok: true, diagnostics: [] },
  { probedAt: '2026-01-01T00:00:00.000Z', hostEnforced: confinedAgent().hostEnforced },
);
const { evidence } = compilePhase({ phase: 'explore' }, {}, runtime);
const parent = { evidence, emergency: null } as PhaseRecord;
const phases = { get: async (id: string) => (id === 'attempt_parent00' ? parent : undefined) };
const launch = (request: object, parentAttemptId?: string) =>
  phaseAtLaunch({ phases }, aContractInput({ request }), { parentAttemptId, runtime });

describe('the phase of a launch', () => {
  test('a retry continues with what its predecessor was allowed last, not with what it was launched with', async () => {
    const retried = await launch({ phase: 'verify' }, 'attempt_parent00');
    expect(retried).toMatchObject({ evidence: { phase: 'explore', mode: 'profile' } });
  });

  test('a child that asks for more than its parent is allowed is refused', async () => {
    const child = await launch({ phase: 'verify', parentAttemptId: 'attempt_parent00' }, 'attempt_parent00');
    expect(child).toMatchObject({
      status: 'refused',
      details: { blockers: [{ code: 'phase-required-authority-denied', dimension: 'command.execute' }] },
    });
  });

  test('an attempt whose parent is from before phases is under no limits', async () => {
    expect(await launch({}, 'attempt_unknown0')).toMatchObject({ evidence: { mode: 'legacy' } });
  });
});
