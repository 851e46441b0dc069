import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';

export interface Series {
  label: string;
  /** The name of a token of colour, such as `--green`. */
  colour: string;
  /** One for each time; `null` where there is none. */
  values: (number | null)[];
  format?: (value: number) => string;
}

interface PlotProps {
  title: string;
  /** Seconds since 1970. */
  times: number[];
  series: Series[];
}

const heightPx = 180;

/** A plot over time; its values are in a table beside it for those who do not see it. */
export function Plot({ title, times, series }: PlotProps) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const host = element.current;
    if (!host) {
      return undefined;
    }
    const style = getComputedStyle(host);
    // A colour of the theme as the browser computes it: a canvas knows no variables.
    const probe = document.createElement('span');
    host.append(probe);
    const colour = (name: string) => {
      probe.style.color = `var(${name})`;
      return getComputedStyle(probe).color;
    };
    const axis = {
      stroke: colour('--fg-2'),
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { show: false },
      font: `11px ${style.fontFamily}`,
    };
    const format = series[0]?.format;
    const plot = new uPlot(
      {
        width: host.clientWidth,
        height: heightPx,
        cursor: { y: false },
        scales: { y: { range: (_plot, _min, max) => [0, Math.max(max * 1.1, 1)] } },
        axes: [
          axis,
          { ...axis, size: 64, ...(format ? { values: (_plot: uPlot, ticks: number[]) => ticks.map(format) } : {}) },
        ],
        series: [
          {},
          ...series.map(({ label, colour: name, format: each }) => ({
            label,
            stroke: colour(name),
            fill: colour(`${name}-soft`),
            width: 2,
            points: { show: times.length < 40, size: 5 },
            value: (_plot: uPlot, value: number | null) => (value === null ? '–' : each ? each(value) : String(value)),
          })),
        ],
      },
      [times, ...series.map(({ values }) => values)],
      host,
    );
    probe.remove();
    const observer = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height: heightPx }));
    observer.observe(host);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [times, series]);
  return (
    <figure>
      <div ref={element} aria-hidden />
      <table className="sr">
        <caption>{title}</caption>
        <tbody>
          {times.map((time, index) => (
            <tr key={time}>
              <th scope="row">{new Date(time * 1_000).toLocaleString()}</th>
              {series.map(({ label, values, format = String }) => {
                const value = values[index] ?? null;
                return (
                  <td key={label}>
                    {label}: {value === null ? '–' : format(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
