"""The motion tracking tasks, declared as terms."""

from __future__ import annotations

from functools import partial

from envdyno.suite.manager.configuration import (
    JointPositionAction,
    ManagerConfiguration,
    ObservationGroup,
    ObservationTerm,
    RewardTerm,
    TerminationTerm,
)
from envdyno.suite.manager.terms import motion, observations, rewards, terminations
from envdyno.suite.tasks.motion_tracking import MotionTrackingTask


def configure_motion_tracking(task: MotionTrackingTask) -> ManagerConfiguration:
    """Declare ``task``. Robots are reset by the command, which knows the motion; there are no events."""
    return ManagerConfiguration(
        action=JointPositionAction(task.action_scale),
        commands={"motion": partial(motion.MotionCommand, task=task)},
        policy=ObservationGroup(_policy_terms(task), corrupted=True),
        critic=ObservationGroup(_critic_terms(task), corrupted=False),
        rewards=_reward_terms(task),
        terminations={
            "time_out": TerminationTerm(terminations.time_out, time_out=True),
            "anchor_height": TerminationTerm(
                motion.bad_anchor_height, {"threshold": task.terminations.anchor_height}
            ),
            "anchor_tilt": TerminationTerm(
                motion.bad_anchor_tilt, {"threshold": task.terminations.anchor_tilt}
            ),
            "end_height": TerminationTerm(motion.bad_end_height, {"threshold": task.terminations.end_height}),
            "diverged": TerminationTerm(terminations.diverged),
        },
        events={},
        soft_limit=task.soft_limit,
    )


def _command_terms(task: MotionTrackingTask) -> dict[str, ObservationTerm]:
    noise = task.noise
    return {
        "command": ObservationTerm(observations.generated_command, {"command": "motion"}),
        "anchor_pos": ObservationTerm(motion.motion_anchor_pos_b, noise=noise.anchor_position),
        "anchor_ori": ObservationTerm(motion.motion_anchor_ori_b, noise=noise.anchor_orientation),
    }


def _robot_terms(task: MotionTrackingTask) -> dict[str, ObservationTerm]:
    noise = task.noise
    return {
        "base_lin_vel": ObservationTerm(observations.base_lin_vel, noise=noise.linear_velocity),
        "base_ang_vel": ObservationTerm(observations.base_ang_vel, noise=noise.angular_velocity),
        "joint_pos": ObservationTerm(observations.joint_pos_rel, noise=noise.joint_angle),
        "joint_vel": ObservationTerm(observations.joint_vel, noise=noise.joint_velocity),
        "last_action": ObservationTerm(observations.last_action),
    }


def _policy_terms(task: MotionTrackingTask) -> dict[str, ObservationTerm]:
    return {**_command_terms(task), **_robot_terms(task)}


def _critic_terms(task: MotionTrackingTask) -> dict[str, ObservationTerm]:
    return {
        **_command_terms(task),
        "body_pos": ObservationTerm(motion.robot_body_pos_b),
        "body_ori": ObservationTerm(motion.robot_body_ori_b),
        **_robot_terms(task),
        "projected_gravity": ObservationTerm(observations.projected_gravity),
    }


def _reward_terms(task: MotionTrackingTask) -> dict[str, RewardTerm]:
    weights, deviations = task.weights, task.deviations
    tracking = {
        "anchor_position": motion.anchor_position_error_exp,
        "anchor_orientation": motion.anchor_orientation_error_exp,
        "body_position": motion.body_position_error_exp,
        "body_orientation": motion.body_orientation_error_exp,
        "body_linear_velocity": motion.body_linear_velocity_error_exp,
        "body_angular_velocity": motion.body_angular_velocity_error_exp,
    }
    return {
        **{
            name: RewardTerm(function, getattr(weights, name), {"deviation": getattr(deviations, name)})
            for name, function in tracking.items()
        },
        "action_rate": RewardTerm(rewards.action_rate_l2, weights.action_rate),
        "joint_acc": RewardTerm(rewards.joint_acc_l2, weights.joint_acceleration),
        "joint_limits": RewardTerm(rewards.joint_pos_limits, weights.joint_limits),
    }
