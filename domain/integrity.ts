import type { ProviderRuntimeManifest } from '../contracts/runs/launch/contract';
import type { LaunchOutcome } from '../contracts/runs/launch/launch';
import type { RecordedLaunchManifest } from '../contracts/runs/launch/manifest';
import { digestOf } from '../platform/json/digest';

/** The fields of an attempt that bind it to a provider and a launch. */
export interface BoundContract {
  providerRuntimeManifest?: ProviderRuntimeManifest;
  runLaunchManifest?: RecordedLaunchManifest;
  launch?: LaunchOutcome;
}

/** Digests that a caller states for the run; absent ones are not compared. */
export interface StatedDigests {
  providerRuntimeManifestDigest?: string | undefined;
  runLaunchManifestDigest?: string | undefined;
}

export interface DigestMismatch {
  document: 'provider-runtime-manifest' | 'run-launch-manifest';
  expected: string | undefined;
  actual: string | undefined;
}

/**
 * Re-checks the contract an attempt is bound to before anything is done to it (specification 2, Launch rule 6): each stored
 * document still has its digest, the launch names the provider manifest that is stored, and both are what the launch's response
 * and the caller state.
 *
 * @returns the first mismatch; an attempt without a contract (not prepared yet) has none unless a digest is stated
 */
export function contractMismatch(contract: BoundContract, stated: StatedDigests = {}): DigestMismatch | undefined {
  const { providerRuntimeManifest: provider, runLaunchManifest: manifest, launch } = contract;
  const answered = launch?.status === 'running' ? launch : undefined;
  const checks: (DigestMismatch & { needed: boolean })[] = [
    {
      document: 'provider-runtime-manifest',
      expected: provider?.digest,
      actual: provider && providerDigest(provider),
      needed: provider !== undefined,
    },
    {
      document: 'run-launch-manifest',
      expected: manifest?.digest,
      actual: manifest && launchDigest(manifest),
      needed: manifest !== undefined,
    },
    {
      document: 'provider-runtime-manifest',
      expected: manifest?.providerRuntime.digest,
      actual: provider?.digest,
      needed: manifest !== undefined,
    },
    {
      document: 'provider-runtime-manifest',
      expected: provider?.digest,
      actual: answered?.providerRuntimeManifestDigest,
      needed: answered !== undefined,
    },
    {
      document: 'run-launch-manifest',
      expected: manifest?.digest,
      actual: answered?.runLaunchManifestDigest,
      needed: answered !== undefined,
    },
    {
      document: 'provider-runtime-manifest',
      expected: provider?.digest,
      actual: stated.providerRuntimeManifestDigest,
      needed: stated.providerRuntimeManifestDigest !== undefined,
    },
    {
      document: 'run-launch-manifest',
      expected: manifest?.digest,
      actual: stated.runLaunchManifestDigest,
      needed: stated.runLaunchManifestDigest !== undefined,
    },
  ];
  const mismatch = checks.find(({ needed, expected, actual }) => needed && expected !== actual);
  return mismatch && { document: mismatch.document, expected: mismatch.expected, actual: mismatch.actual };
}

/** The digest of a provider manifest: of everything in it but the digest and the time of its probe. */
export function providerDigest({ digest: _digest, probe, ...manifest }: ProviderRuntimeManifest): string {
  const { probedAt: _probedAt, ...evidence } = probe;
  return digestOf({ ...manifest, probe: evidence });
}

const launchDigest = ({ digest: _digest, ...manifest }: RecordedLaunchManifest): string => digestOf(manifest);
