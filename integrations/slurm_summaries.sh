#!/bin/sh
#SBATCH --job-name=loopscope
#SBATCH --ntasks=1
# A summary of one rank for each task of an array, or of a job step:
#   sbatch --array=0-63 slurm_summaries.sh 'traces/rank%d.json.gz' summaries
#   srun --ntasks=64 slurm_summaries.sh 'traces/rank%d.json.gz' summaries
# Then, anywhere that sees the folder: loopscope report --reduce summaries
set -eu
task=${SLURM_ARRAY_TASK_ID:-${SLURM_PROCID:?neither an array nor a job step: start it by sbatch --array or srun}}
mkdir -p "$2"
# shellcheck disable=SC2059
exec loopscope report --summary "$2/$(printf '%06d' "$task").summary" "$(printf "$1" "$task")"
