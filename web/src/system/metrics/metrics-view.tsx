import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { board, type Schema, unwrap } from '../../api/client';
import { money, number, percent, tokens } from '../../ui/figures';
import { Empty, Loaded, Panel } from '../../ui/parts';
import { duration } from '../../ui/time';
import s from './metrics.module.css';
import { Plot } from './plot';

const periods = ['24h', '7d', '30d', '3m', '12m'] as const;
type Period = (typeof periods)[number];

const labels: Record<Period, string> = {
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '3m': 'Last 3 months',
  '12m': 'Last 12 months',
};

function Figure({ label, value, detail }: { label: string; value: string; detail: string }) {
  return (
    <div className={s.figure}>
      <span className="meta">{label}</span>
      <strong className="num">{value}</strong>
      <span className="meta num">{detail}</span>
    </div>
  );
}

function Figures({ runs, tokens: used, duration: times, tasks }: Schema<'AllMetrics'>) {
  return (
    <div className={s.figures}>
      <Figure
        label="Runs"
        value={number(runs.runs)}
        detail={`${number(runs.successes)} succeeded, ${percent(runs.successRate)}`}
      />
      <Figure label="Duration, median" value={duration(times.p50Ms)} detail={`95 % within ${duration(times.p95Ms)}`} />
      <Figure
        label="Tokens"
        value={tokens(used.totalTokens).replace(' tokens', '')}
        detail={`${tokens(used.inputTokens)} in, ${tokens(used.outputTokens)} out`}
      />
      <Figure
        label="Cost"
        value={money(used.cost)}
        detail={
          used.perSuccessfulRun.runs === 0 ? 'no run succeeded' : `${tokens(used.perSuccessfulRun.avg)} per success`
        }
      />
      <Figure label="Tasks done" value={number(tasks.completed)} detail={`${number(tasks.created)} created`} />
    </div>
  );
}

function Agents({ all }: { all: Schema<'AllMetrics'> }) {
  const cost = new Map(all.tokens.byAgent.map((each) => [each.agent, each]));
  const times = new Map(all.duration.byAgent.map((each) => [each.agent, each]));
  return (
    <Panel title="By agent" flush>
      <div className="scroll-x" tabIndex={0} role="region" aria-label="Figures by agent">
        <table className="table">
          <thead>
            <tr>
              <th>Agent</th>
              <th className="right">Runs</th>
              <th className="right">Success</th>
              <th className="right">Median</th>
              <th className="right">95 %</th>
              <th className="right">Tokens</th>
              <th className="right">Cost</th>
            </tr>
          </thead>
          <tbody>
            {all.runs.byAgent.map(({ agent, runs, successRate }) => (
              <tr key={agent} className="num">
                <td>{agent}</td>
                <td className="right">{number(runs)}</td>
                <td className="right">{percent(successRate)}</td>
                <td className="right">{duration(times.get(agent)?.p50Ms ?? 0)}</td>
                <td className="right">{duration(times.get(agent)?.p95Ms ?? 0)}</td>
                <td className="right">{tokens(cost.get(agent)?.totalTokens ?? 0)}</td>
                <td className="right">{money(cost.get(agent)?.cost ?? 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Trends({ trends }: { trends: Schema<'TrendMetrics'> }) {
  const { parts } = trends;
  const plots = useMemo(() => {
    const of = (name: 'successes' | 'failures' | 'avgDurationMs' | 'totalTokens' | 'cost') =>
      parts.map((part) => part[name]);
    const means = parts.map(({ runs, avgDurationMs }) => (runs === 0 ? null : avgDurationMs));
    return {
      times: parts.map(({ from }) => Date.parse(from) / 1_000),
      outcomes: [
        { label: 'succeeded', colour: '--green', values: of('successes') },
        { label: 'failed', colour: '--red', values: of('failures') },
      ],
      durations: [{ label: 'mean', colour: '--blue', values: means, format: duration }],
      tokens: [
        {
          label: 'tokens',
          colour: '--accent',
          values: of('totalTokens'),
          format: (value: number) => tokens(value).replace(' tokens', ''),
        },
      ],
      cost: [{ label: 'cost', colour: '--amber', values: of('cost'), format: money }],
    };
  }, [parts]);
  return (
    <div className={s.plots}>
      <Panel title="Runs by outcome">
        <Plot title="Runs by outcome" times={plots.times} series={plots.outcomes} />
      </Panel>
      <Panel title="Mean duration of runs">
        <Plot title="Mean duration of runs" times={plots.times} series={plots.durations} />
      </Panel>
      <Panel title="Tokens">
        <Plot title="Tokens" times={plots.times} series={plots.tokens} />
      </Panel>
      <Panel title="Cost in US dollars">
        <Plot title="Cost in US dollars" times={plots.times} series={plots.cost} />
      </Panel>
    </div>
  );
}

/** Runs, durations, tokens and cost over a period. */
export function MetricsView() {
  const [period, setPeriod] = useState<Period>('7d');
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const query = { period, tz: timeZone };
  const all = useQuery({
    queryKey: ['metrics', 'all', period],
    staleTime: 30_000,
    placeholderData: keepPreviousData,
    queryFn: () => unwrap(board.GET('/api/metrics/all', { params: { query } })),
  });
  const trends = useQuery({
    queryKey: ['metrics', 'trends', period],
    staleTime: 30_000,
    placeholderData: keepPreviousData,
    queryFn: () => unwrap(board.GET('/api/metrics/trends', { params: { query } })),
  });
  return (
    <div className="view">
      <header>
        <h1 className="grow">Metrics</h1>
        <select
          className={`input ${s.period}`}
          aria-label="Period"
          value={period}
          onChange={(event) => setPeriod(event.target.value as Period)}
        >
          {periods.map((each) => (
            <option key={each} value={each}>
              {labels[each]}
            </option>
          ))}
        </select>
      </header>
      <Loaded query={all} what="metrics">
        {(data) =>
          data.runs.runs === 0 ? (
            <Empty icon="metrics" title="No run has ended in this period">
              <span>Choose a longer period, or start a run.</span>
            </Empty>
          ) : (
            <>
              <Figures {...data} />
              {trends.data ? <Trends trends={trends.data} /> : null}
              <Agents all={data} />
              {data.runs.coverage.complete ? null : (
                <p className="meta">
                  What was measured before {data.runs.coverage.since ?? 'the time of retention'} is not a part of it.
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </div>
  );
}
