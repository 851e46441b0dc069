import type { Ceremony, CeremonyCompletion } from '../../../contracts/governance/ceremony';

/** What a ceremony was to bring, and the outcome that is reported does not have. */
export function missingArtifacts(
  required: Ceremony['requiredArtifacts'],
  { artifacts, actionItems }: Pick<CeremonyCompletion, 'artifacts' | 'actionItems'>,
): Ceremony['requiredArtifacts'] {
  return required.filter((kind) => {
    if (artifacts.some((artifact) => artifact.kind === kind)) {
      return false;
    }
    if (kind === 'action-items') {
      return actionItems.length === 0;
    }
    return kind !== 'github-issues' || !actionItems.some(({ issueUrl }) => issueUrl !== undefined);
  });
}
