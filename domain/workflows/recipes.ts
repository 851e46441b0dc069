import type { WorkflowDefinition } from '../../contracts/runs/workflows/definition';

/** A workflow to begin with. Its one agent, `agent`, is what the caller chooses. */
export interface Recipe {
  id: string;
  description: string;
  definition: Omit<WorkflowDefinition, 'id' | 'agents'>;
}

const agent = 'agent';

export const recipes: readonly Recipe[] = [
  {
    id: 'plan-build-review',
    description:
      'Plans the work, waits for approval of the plan, builds it, and repeats the build until a review passes.',
    definition: {
      name: 'Plan, build, review',
      variables: { wanted: 'What is to be built' },
      steps: [
        { id: 'plan', type: 'agent', agent, phase: 'plan', input: 'Plan the steps of: {{wanted}}' },
        { id: 'approval', type: 'gate', input: 'Approve this plan?\n\n{{steps.plan.output}}' },
        { id: 'build', type: 'agent', agent, input: 'Build: {{wanted}}\n\nThe plan:\n{{steps.plan.output}}' },
        {
          ...{ id: 'review', type: 'loop', agent, phase: 'verify' },
          input: 'Review what was built, correct it, and end your summary with PASSED once nothing is left to correct.',
          loop: { completion: 'steps.review.output contains PASSED', max_iterations: 3 },
        },
      ],
    },
  },
  {
    id: 'parallel-reviews',
    description: 'Has correctness and security reviewed at the same time, and a person decide by both.',
    definition: {
      name: 'Parallel reviews',
      variables: { subject: 'What is reviewed' },
      steps: [
        {
          ...{ id: 'reviews', type: 'parallel' },
          parallel: {
            steps: [
              { id: 'correctness', agent, phase: 'verify', input: 'Review the correctness of: {{subject}}' },
              { id: 'security', agent, phase: 'verify', input: 'Review the security of: {{subject}}' },
            ],
          },
        },
        {
          ...{ id: 'decision', type: 'gate' },
          input: 'Correctness: {{steps.correctness.output}}\n\nSecurity: {{steps.security.output}}\n\nAccept?',
        },
      ],
    },
  },
  {
    id: 'for-each-item',
    description: 'Runs the same work for every item of a list, one after the other, and sums up.',
    definition: {
      name: 'For each item',
      variables: { items: ['first', 'second'] },
      steps: [
        {
          ...{ id: 'work', type: 'loop', agent, input: 'Do the work for {{item}}.' },
          loop: { over: 'items', continue_on_error: true },
        },
        { id: 'summary', type: 'agent', agent, input: 'Sum up what was done: {{steps.work.output}}' },
      ],
    },
  },
];
