import type { TransitionHooks } from '../../contracts/settings/transition-hook';

/** What holds while nothing was set: nothing, with rules that show what can be set. */
export const sampleTransitionHooks: TransitionHooks = {
  enabled: false,
  rules: [
    {
      id: 'begin-with-a-plan',
      name: 'A task that begins has an agent and a plan, and its timer runs',
      enabled: false,
      from: 'todo',
      to: 'in-progress',
      gates: ['require-agent', 'require-plan'],
      actions: [{ type: 'auto-start-timer' }],
    },
    {
      id: 'blocked-with-a-reason',
      name: 'A blocked task states why, and the operator is notified',
      enabled: false,
      from: '*',
      to: 'blocked',
      gates: ['require-blocker-reason'],
      actions: [{ type: 'auto-stop-timer' }, { type: 'send-notification' }],
    },
    {
      id: 'done-when-verified',
      name: 'A task is done when its steps are, and what was learnt is asked for',
      enabled: false,
      from: '*',
      to: 'done',
      gates: ['require-subtasks-complete', 'require-verification-complete'],
      actions: [{ type: 'auto-stop-timer' }, { type: 'log-activity' }, { type: 'prompt-lessons-learned' }],
    },
  ],
  defaultGates: [],
  defaultActions: [],
};
