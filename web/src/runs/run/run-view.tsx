import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import type { Attempt } from '../../api/client';
import { keys } from '../../api/keys';
import { queryClient } from '../../api/query-client';
import { taskQuery } from '../../tasks/queries';
import { count, percent } from '../../ui/figures';
import { Icon } from '../../ui/icon';
import { Badge, Empty, Loaded, Loading, Panel, Problem } from '../../ui/parts';
import { useStore } from '../../ui/store';
import { WaitingApprovals } from '../approvals/waiting-approvals';
import { attemptState, isLive } from '../attempt-state';
import { attemptQuery, runStatusQuery } from '../queries';
import { Checkpoints } from './checkpoints';
import { Controls } from './controls';
import { followEvents } from './event-log';
import { Facts } from './facts';
import { LogView } from './log-view';
import s from './run.module.css';
import { StoryView } from './story-view';

const route = getRouteApi('/shell/tasks/$taskId/runs/$attemptId');

function useEvents(taskId: string, attemptId: string) {
  const followed = useMemo(() => ({ current: undefined as ReturnType<typeof followEvents> | undefined }), []);
  const [, show] = useState(0);
  useEffect(() => {
    const mine = followEvents(taskId, attemptId);
    followed.current = mine;
    show((n) => n + 1);
    return () => mine.stop();
  }, [taskId, attemptId, followed]);
  return followed.current?.log;
}

function Result({ attempt }: { attempt: Attempt }) {
  const { completion, refusal } = attempt;
  if (refusal) {
    return (
      <p className="problem">
        <Icon name="blocked" />
        <span className="grow">
          {refusal.message} <code>{refusal.code}</code>
        </span>
      </p>
    );
  }
  if (!completion) {
    return null;
  }
  const blockers = completion.blockers ?? [];
  return (
    <Panel title="Result">
      <div className="stack">
        {completion.summary ? <p>{completion.summary}</p> : null}
        {blockers.map(({ code, summary }) => (
          <p key={code + summary} className="notice">
            <Icon name="blocked" />
            <span className="grow">{summary}</span>
          </p>
        ))}
        <p className="meta">
          {count(completion.changedFiles?.length ?? 0, 'file')} changed
          {` · reported by ${completion.terminalSource}`}
        </p>
      </div>
    </Panel>
  );
}

type Log = NonNullable<ReturnType<typeof useEvents>>;

function Course({ attempt, log }: { attempt: Attempt; log: Log }) {
  const state = useStore(log);
  const [tab, setTab] = useState<'story' | 'log'>('story');
  const { data: status } = useQuery(runStatusQuery(attempt.taskId));
  const live = isLive(attempt);
  useEffect(() => {
    // What was read before the end is not the result.
    if (state.ended && live) {
      void queryClient.invalidateQueries({ queryKey: keys.ofTask(attempt.taskId) });
    }
  }, [state.ended, live, attempt.taskId]);
  return (
    <div className={`two ${s.course}`}>
      <section className={`panel ${s.main}`} aria-label="Course of the run">
        <header role="tablist" aria-label="Course of the run">
          {(['story', 'log'] as const).map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${name}`}
              aria-selected={tab === name}
              aria-controls="course"
              className={s.tab}
              onClick={() => setTab(name)}
            >
              {name === 'story' ? 'Story' : 'Log'}
            </button>
          ))}
          <span className="grow" />
          <span className="meta num">
            {count(state.events.length, 'event')}
            {live && state.story.percent !== undefined ? ` · ${percent(state.story.percent / 100)}` : ''}
          </span>
        </header>
        <div id="course" role="tabpanel" aria-labelledby={`tab-${tab}`} className={s.course2}>
          {state.error ? <Problem error={state.error} /> : null}
          {!state.loaded && state.events.length === 0 ? (
            <Loading what="events" />
          ) : state.events.length === 0 ? (
            <Empty icon="clock" title={live ? 'Nothing has happened yet' : 'There are no events'}>
              {attempt.eventsPurgedAt ? <span>They were removed after their time of retention.</span> : null}
            </Empty>
          ) : tab === 'story' ? (
            <StoryView log={state} />
          ) : (
            <LogView log={state} />
          )}
        </div>
      </section>
      <div className="stack">
        <Result attempt={attempt} />
        <WaitingApprovals attemptId={attempt.id} />
        <Controls attempt={attempt} status={status} />
        <Checkpoints attempt={attempt} />
        <Facts attempt={attempt} status={status} story={state.story} />
      </div>
    </div>
  );
}

function Head({ attempt }: { attempt: Attempt }) {
  const { data: task } = useQuery(taskQuery(attempt.taskId));
  const state = attemptState(attempt);
  return (
    <header>
      <Link
        to="/tasks/$taskId"
        params={{ taskId: attempt.taskId }}
        className="button plain small"
        aria-label="To the task"
      >
        <Icon name="left" />
      </Link>
      <h1 className="grow cut">{task?.title ?? 'Run'}</h1>
      <span role="status">
        <Badge tone={state.tone} icon={state.icon}>
          {state.label}
        </Badge>
      </span>
      <Link to="/tasks/$taskId/diff" params={{ taskId: attempt.taskId }} className="button">
        <Icon name="review" /> {task?.review?.state === 'pending' ? 'Review the diff' : 'Diff'}
      </Link>
    </header>
  );
}

/** One run: what happened and happens in it, its facts, and what it takes. */
export function RunView() {
  const { taskId, attemptId } = route.useParams();
  const attempt = useQuery(attemptQuery(taskId, attemptId));
  const log = useEvents(taskId, attemptId);
  return (
    <Loaded query={attempt} what="the run">
      {(data) => (
        <div className={`view ${s.view}`}>
          <Head attempt={data} />
          {log ? <Course key={attemptId} attempt={data} log={log} /> : <Loading what="events" />}
        </div>
      )}
    </Loaded>
  );
}
