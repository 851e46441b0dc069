import type { AdmissionSettings } from '../../../contracts/settings/settings';
import { hostKey, type Usage } from '../../../domain/admission/capacity';

/** How many runs a host may execute at a time, and how many more than it does; both infinite without a ceiling. */
export function hostRuns(
  { enabled, limits }: Pick<AdmissionSettings, 'enabled' | 'limits'>,
  usage: Usage,
  { hostId, runs }: { hostId: string; runs: number | undefined },
): { limit: number; free: number } {
  const limit = enabled ? Math.min(runs ?? Infinity, limits.host.runs ?? Infinity) : Infinity;
  return { limit, free: limit - (usage[hostKey(hostId)]?.runs ?? 0) };
}
