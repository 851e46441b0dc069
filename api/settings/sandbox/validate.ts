import type { TraceInput } from '../../../contracts/governance/trace';
import type { ProviderRuntimeManifest } from '../../../contracts/runs/launch/contract';
import type { SandboxPreset, SandboxQuestion, SandboxVerdict } from '../../../contracts/settings/sandbox';
import { judgePreset, type SandboxJudgement } from '../../../domain/sandbox/validate';
import { conflict, notFound } from '../../../platform/errors/app-error';
import type { ApiContext } from '../../context';

export type ValidationContext = Pick<ApiContext, 'sandboxes' | 'routing' | 'traces'>;

/** Judges a preset by what a provider has shown to enforce, as a launch would, and records the decision. */
export async function validatePreset(context: ValidationContext, question: SandboxQuestion): Promise<SandboxVerdict> {
  const { presetId, provider } = question;
  const preset = await context.sandboxes.get(presetId);
  if (!preset) {
    throw notFound('sandbox preset', presetId);
  }
  const candidates = await manifestsFor(context, question);
  const [best] = candidates
    .map((manifest) => ({ manifest, judgement: judgePreset(preset, manifest, question) }))
    .sort((a, b) => lacking(a.judgement) - lacking(b.judgement));
  if (!best) {
    throw conflict(`Nothing is known of the provider ${provider}: no agent of it is configured or registered.`, {
      provider,
    });
  }
  const { manifest, judgement } = best;
  const traceId = await context.traces.record(traceOf(preset, { question, judgement, digest: manifest.digest }));
  return { ...judgement, provider, providerRuntimeManifestDigest: manifest.digest, traceId };
}

const lacking = ({ unsupportedRules, warnings }: SandboxJudgement): number =>
  unsupportedRules.length * 100 + warnings.length;

/** @throws AppError 404 for a digest that no manifest has, 409 for one of another provider */
async function manifestsFor(
  { routing }: Pick<ValidationContext, 'routing'>,
  { provider, providerRuntimeManifestDigest: digest }: SandboxQuestion,
): Promise<ProviderRuntimeManifest[]> {
  const { evidence } = await routing.inputs();
  const manifests = evidence.map((each) => each.manifest);
  if (digest === undefined) {
    return manifests.filter((manifest) => manifest.provider === provider);
  }
  const manifest = manifests.find((each) => each.digest === digest);
  if (!manifest) {
    throw notFound('provider runtime manifest', digest);
  }
  if (manifest.provider !== provider) {
    throw conflict(`The manifest is of the provider ${manifest.provider}.`, { provider: manifest.provider });
  }
  return [manifest];
}

const outcomes = { allow: 'allowed', warn: 'warned', block: 'blocked' } as const;

function traceOf(
  preset: SandboxPreset,
  { question, judgement, digest }: { question: SandboxQuestion; judgement: SandboxJudgement; digest: string },
): TraceInput {
  const { decision, unsupportedRules, warnings } = judgement;
  const blocked = unsupportedRules.filter((rule) => !warnings.includes(rule));
  const rules = [
    ...blocked.map((rule) => [rule, 'blocked'] as const),
    ...warnings.map((rule) => [rule, 'warned'] as const),
  ];
  return {
    kind: 'sandbox-policy',
    outcome: outcomes[decision],
    title: `Sandbox ${preset.id}: ${outcomes[decision]}`,
    summary: `The preset ${preset.id} (${preset.enforcement}) was validated for the provider ${question.provider}.`,
    ...(decision === 'block'
      ? { remediation: 'Choose a provider that enforces these rules, or a preset that does without them.' }
      : {}),
    subject: { actionType: 'sandbox.validate' },
    evaluatedRules: rules.map(([{ rule, capabilityId, message }, outcome]) => ({
      ...{ id: `${rule}:${capabilityId}`, label: rule, type: 'sandbox', status: 'matched' as const },
      ...{ outcome, message },
    })),
    raw: { question, revision: preset.revision, providerRuntimeManifestDigest: digest },
  };
}
