import type { AnswerKind, DecisionReview } from '../../contracts/governance/decision-review';
import { codeBlock, inlineCode } from '../../platform/text/markdown-code';

const headings: Record<AnswerKind, string> = { response: 'Responses', critique: 'Critiques' };

/**
 * A review as a document. What participants wrote is set as code, so that it cannot pass for another part of the document, and
 * is without escapes, so that it does nothing to a terminal that shows it.
 */
export function reviewMarkdown(review: DecisionReview): string {
  const { participants, synthesis, canceled, draft } = review;
  const facts = [
    `- Review: ${inlineCode(review.id)}`,
    `- Task: ${inlineCode(review.taskId)}`,
    `- State: ${review.state}, round ${review.round} of ${review.rounds}`,
    `- Created: ${review.createdAt} by ${inlineCode(review.createdBy)}`,
    ...(review.decisionId === undefined ? [] : [`- Decision: ${inlineCode(review.decisionId)}`]),
    ...(canceled ? [`- Canceled: ${canceled.at} by ${inlineCode(canceled.by)}`] : []),
  ];
  const people = participants.map(({ id, label, model, failure }) => {
    const kind = model === undefined ? '' : `, model ${inlineCode(model)}`;
    const end = failure ? `, failed in round ${failure.round}: ${inlineCode(failure.reason)}` : '';
    return `- ${inlineCode(id)}: ${inlineCode(label)}${kind}${end}`;
  });
  const rounds = Array.from({ length: review.round }, (_, index) => roundOf(review, index + 1));
  return [
    `# ${inlineCode(review.title)}`,
    facts.join('\n'),
    `## Question\n\n${codeBlock(review.prompt)}`,
    `## Context\n\n${codeBlock(review.context)}`,
    `## Participants\n\n${people.join('\n')}`,
    ...rounds,
    ...(canceled?.reason === undefined ? [] : [`## Reason of the cancellation\n\n${codeBlock(canceled.reason)}`]),
    ...(draft && !synthesis
      ? [`## Draft of the synthesis\n\nBy ${inlineCode(draft.by)}, ${draft.at}\n\n${codeBlock(draft.text)}`]
      : []),
    ...(synthesis
      ? [`## Synthesis\n\nBy ${inlineCode(synthesis.by)}, ${synthesis.at}\n\n${codeBlock(synthesis.text)}`]
      : []),
  ].join('\n\n');
}

function roundOf({ answers }: DecisionReview, round: number): string {
  const parts = (['response', 'critique'] as const).map((kind) => {
    const given = answers
      .filter((one) => one.round === round && one.kind === kind)
      .map(
        ({ participantId, by, at, text }) =>
          `#### ${inlineCode(participantId)}\n\nBy ${inlineCode(by)}, ${at}\n\n${codeBlock(text)}`,
      );
    return given.length === 0 ? [] : [`### ${headings[kind]}`, ...given];
  });
  return [`## Round ${round}`, ...parts.flat()].join('\n\n');
}
