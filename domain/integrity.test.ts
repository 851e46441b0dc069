import { aContractInput } from '../test/support/factories/contract';
import { factoryTime as at } from '../test/support/factories/task';
import { runtimeManifest } from './capabilities';
import { compileContract } from './contract';
import { type BoundContract, contractMismatch } from './integrity';

const compiled = compileContract(aContractInput());
const { providerRuntimeManifest, runLaunchManifest } = compiled;
const answered = {
  status: 'running' as const,
  taskId: 'task_20260101_aaaaaa',
  attemptId: 'attempt_aaaaaaaa',
  agent: 'bee',
  provider: 'process' as const,
  startedAt: at,
  providerRuntimeManifestDigest: providerRuntimeManifest.digest,
  runLaunchManifestDigest: runLaunchManifest.digest,
};
const contract: BoundContract = { providerRuntimeManifest, runLaunchManifest, launch: answered };

describe('contract integrity', () => {
  test('a contract as it was stored has no mismatch, however the digests are stated', () => {
    expect(contractMismatch(contract)).toBeUndefined();
    expect(contractMismatch({})).toBeUndefined();
    const stated = {
      providerRuntimeManifestDigest: providerRuntimeManifest.digest,
      runLaunchManifestDigest: runLaunchManifest.digest,
    };
    expect(contractMismatch(contract, stated)).toBeUndefined();
  });

  test('what is not there yet is not compared', () => {
    // A queued launch has none of the fields that are compared.
    const queued = { status: 'queued' } as unknown as BoundContract['launch'];
    const stored = { providerRuntimeManifest, runLaunchManifest };
    expect(
      [{ providerRuntimeManifest }, stored, { ...stored, launch: queued! }].map((each) => contractMismatch(each)),
    ).toEqual([undefined, undefined, undefined]);
  });

  const other = `sha256:${'0'.repeat(64)}`;

  test.each<[string, BoundContract, object, string]>([
    [
      'a manifest that was changed under its digest',
      { ...contract, providerRuntimeManifest: { ...providerRuntimeManifest, adapter: 'other/v1' } },
      {},
      'provider-runtime-manifest',
    ],
    [
      'a launch that was changed under its digest',
      { ...contract, runLaunchManifest: { ...runLaunchManifest, taskId: 'task_20260101_bbbbbb' } },
      {},
      'run-launch-manifest',
    ],
    [
      'another manifest than the launch names',
      {
        ...contract,
        providerRuntimeManifest: runtimeManifest('process', { ok: true, diagnostics: ['x'] }, { probedAt: at }),
      },
      {},
      'provider-runtime-manifest',
    ],
    [
      'another manifest than the launch names, before it was answered,',
      {
        runLaunchManifest,
        providerRuntimeManifest: runtimeManifest('process', { ok: true, diagnostics: ['x'] }, { probedAt: at }),
      },
      {},
      'provider-runtime-manifest',
    ],
    [
      'a launch that was answered with another provider manifest',
      { ...contract, launch: { ...answered, providerRuntimeManifestDigest: other } },
      {},
      'provider-runtime-manifest',
    ],
    [
      'a launch that was answered with another launch manifest',
      { ...contract, launch: { ...answered, runLaunchManifestDigest: other } },
      {},
      'run-launch-manifest',
    ],
    ['another provider digest', contract, { providerRuntimeManifestDigest: other }, 'provider-runtime-manifest'],
    ['another launch digest', contract, { runLaunchManifestDigest: other }, 'run-launch-manifest'],
    ['a digest of a run without a contract', {}, { runLaunchManifestDigest: other }, 'run-launch-manifest'],
  ])('%s is a mismatch', (_name, changed, stated, document) => {
    expect(contractMismatch(changed, stated)).toMatchObject({ document });
  });
});
