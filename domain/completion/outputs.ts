import type { RecordedTaskEnvelope } from '../../contracts/runs/launch/contract';
import type { TerminalClaim } from './claim';
import type { CheckedClaims } from './evidence';

type ExpectedOutput = RecordedTaskEnvelope['expectedOutputs'][number];

/**
 * The required outputs that are not there. An artifact with the output's id or name, or evidence that names it in
 * `requirementIds`, is it unless it was refuted; beside that, a summary is a text, any change a file, any commit a commit.
 */
export function missingOutputs(
  envelope: RecordedTaskEnvelope | undefined,
  claim: TerminalClaim,
  checked: CheckedClaims,
): ExpectedOutput[] {
  const required = (envelope?.expectedOutputs ?? []).filter((output) => output.required);
  return required.filter((output) => !isThere(output, claim, checked));
}

function isThere({ id, kind }: ExpectedOutput, { summary, harness }: TerminalClaim, checked: CheckedClaims): boolean {
  const stands = standing(checked);
  if (checked.artifacts.some((artifact) => (artifact.id === id || artifact.name === id) && stands(artifact))) {
    return true;
  }
  if (checked.evidence.some((item) => (item.requirementIds ?? []).includes(id) && stands(item))) {
    return true;
  }
  switch (kind) {
    case 'text':
      // Without a result the summary is the board's.
      return harness.unreported !== true && harness.silent !== true && summary.trim() !== '';
    case 'file':
      return checked.changedFiles.some(({ status }) => status !== 'deleted');
    case 'commit':
      return (harness.commits ?? []).length > 0 || harness.committed !== undefined;
    case 'artifact':
      return checked.artifacts.some(stands);
    case 'other':
      return false;
  }
}

/** Whether a claim was not refuted. */
const standing = ({ refuted }: CheckedClaims) => {
  const ids = new Set(refuted.map(({ id }) => id));
  return (claim: { id?: string | undefined; name?: string }) => !ids.has(claim.id ?? claim.name ?? '');
};
